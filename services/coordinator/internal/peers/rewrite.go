package peers

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Groups commits a group's state by the one writer that it has in this process.
type Groups interface {
	Order(ctx context.Context, key store.Key, order group.Order, by recorder.Order) (*group.Group, error)
}

// Lower returns the Rewrite of a store's records. A record is committed as it is, so that it
// has a new version and holds what it held.
func Lower(kept store.Store, streams records.Records, groups Groups) Rewrite {
	return func(ctx context.Context, schema int) error {
		keys, err := kept.List(ctx)
		if err != nil {
			return fmt.Errorf("list the records: %w", err)
		}
		var failed []error
		for _, key := range keys {
			if err := lowered(ctx, kept, streams, groups, key, schema); err != nil {
				failed = append(failed, err)
			}
		}
		return errors.Join(failed...)
	}
}

// lowered brings one record down to the schema, if it is newer. One that cannot be read is
// nobody's to write again (M6).
func lowered(ctx context.Context, kept store.Store, streams records.Records, groups Groups, key store.Key, schema int) error {
	found, err := kept.Load(ctx, key, store.Version{})
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrUnsupportedSchema):
		return nil
	case err != nil:
		return fmt.Errorf("load %s: %w", key, err)
	case found.Record.Schema <= schema:
		return nil
	case key.Group == "":
		return rewriteStream(ctx, streams, key.Stream)
	}
	_, err = groups.Order(ctx, key, group.Order{Kind: group.OrderRewrite}, recorder.Order{
		Reason: fmt.Sprintf("written again in schema %d, which all coordinators read", schema),
	})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write group %s again: %w", key, err)
	}
	return nil
}

func rewriteStream(ctx context.Context, streams records.Records, prefix string) error {
	e, found, err := streams.Load(ctx, prefix)
	if err != nil || !found {
		return err
	}
	return streams.Save(ctx, &e, e.Stream.Rewritten(), "")
}

var _ Groups = (*loop.Loop)(nil)
