package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// maxConsumer is how long the name of a consumer may be, in bytes.
const maxConsumer = 1024

// AskPending says which pending entries of a shard are wanted.
type AskPending struct {
	Stream, Group string
	Shard         facts.Shard
	// Consumer is the one whose entries are wanted; empty is every one.
	Consumer string
	// Cursor is where the page begins, as an answer gave it; empty is the lowest id.
	Cursor string
	// Limit is 1 … 1000.
	Limit int
}

// pending answers a page of what a shard's group was given and has not acknowledged.
func (a *api) pending(ctx context.Context, r *http.Request) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(r)
	if err != nil {
		return nil, err
	}
	ask := AskPending{Stream: at.stream, Group: at.group, Consumer: values.Get(consumerParameter), Cursor: values.Get(cursorParameter)}
	switch {
	case len(ask.Cursor) > maxRecordID:
		return nil, invalid("cursor is not an id like 1700000000000-0")
	case len(ask.Consumer) > maxConsumer:
		return nil, invalid("%s has more than %d bytes", consumerParameter, maxConsumer)
	}
	if ask.Limit, err = limitOf(values.Get(limitParameter)); err != nil {
		return nil, err
	}
	if ask.Shard, err = a.shardAt(ctx, at, now); err != nil {
		return nil, err
	}
	return a.Messages.Pending(ctx, ask)
}

// shardAt returns the shard that a path names.
func (a *api) shardAt(ctx context.Context, at place, now Look) (facts.Shard, error) {
	switch _, err := groupOf(now.Round, at); {
	case err != nil && isNoGroup(err):
		return facts.Shard{}, a.notObserved(ctx, at)
	case err != nil:
		return facts.Shard{}, err
	}
	found := shardsOf(now.Round, at.stream, func(s facts.Shard) bool { return s.Index == at.shard })
	if len(found) == 0 {
		return facts.Shard{}, protocol.Errorf(protocol.CodeNotFound, "stream %q has no shard %d", protocol.Echo(at.stream), at.shard)
	}
	return found[0], nil
}
