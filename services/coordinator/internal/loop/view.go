package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// View is a group as one read of the store saw it.
type View struct {
	Group  *group.Group
	Live   map[string]group.Liveness
	Detail map[string]codec.Detail
}

// View reads a group for monitoring; it changes nothing. Errors are those of the store.
func (l *Loop) View(ctx context.Context, key store.Key) (View, error) {
	loaded, err := l.store.Load(ctx, key, store.Version{})
	if err != nil {
		return View{}, fmt.Errorf("load group %s: %w", key, err)
	}
	g, err := decodeGroup(loaded.Record)
	if err != nil {
		return View{}, err
	}
	v := View{Group: g, Live: liveFrom(loaded.Liveness), Detail: make(map[string]codec.Detail, len(loaded.Liveness))}
	for id, l := range loaded.Liveness {
		v.Detail[id] = codec.DecodeDetail(l.Detail)
	}
	return v, nil
}

// LayoutOf returns the layout that a stream's record asks its groups to copy (L1).
func LayoutOf(s stream.Stream) group.Layout {
	layout := group.Layout{
		Version: s.LayoutVersion, ShardCount: s.ShardCount, ReadCount: s.ReadCount(), Closed: s.Closed(), Lost: s.Lost,
		Cause: group.Cause(s.LayoutCause),
	}
	if s.Resharding != nil {
		layout.RequestID = s.Resharding.Order.RequestID
	}
	return layout
}

// Follows tells whether a group works on the layout that the stream's record says now.
func Follows(g *group.Group, s stream.Stream) bool {
	copied, said := g.LayoutOf(), LayoutOf(s)
	return copied.Version == said.Version && copied.ShardCount == said.ShardCount && copied.ReadCount == said.ReadCount &&
		slices.Equal(copied.Closed, said.Closed) && slices.Equal(copied.Lost, said.Lost)
}

// LoadStream reads a stream's record with its version. Errors are those of the store.
func LoadStream(ctx context.Context, s store.Store, prefix string) (stream.Stream, store.Snapshot, error) {
	key := store.Key{Stream: prefix}
	loaded, err := s.Load(ctx, key, store.Version{})
	if err != nil {
		return stream.Stream{}, store.Snapshot{}, fmt.Errorf("load stream %s: %w", prefix, err)
	}
	record, err := codec.DecodeStream(loaded.Record.Schema, loaded.Record.Aggregate)
	if err == nil && record.Prefix != prefix {
		err = fmt.Errorf("%w: it is the record of stream %q", codec.ErrCorrupt, record.Prefix)
	}
	if err != nil {
		return stream.Stream{}, loaded, decodeError(key, err)
	}
	return record, loaded, nil
}

// decodeGroup reads a group's aggregate, which has to be that of its key.
func decodeGroup(r *store.Record) (*group.Group, error) {
	g, err := codec.DecodeGroup(r.Schema, r.Aggregate)
	if err == nil && (g.StreamPrefix != r.Key.Stream || g.ConsumerGroup != r.Key.Group) {
		err = fmt.Errorf("%w: it is the record of group %q of stream %q", codec.ErrCorrupt, g.ConsumerGroup, g.StreamPrefix)
	}
	if err != nil {
		return nil, decodeError(r.Key, err)
	}
	return g, nil
}
