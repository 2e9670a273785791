package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// board holds the newest look, for everybody who asks.
type board struct {
	book *rates.Book // used by publish only, one round after the other
	feed *httpapi.Feed
	// stale is the age from which a look is too old to be of use.
	stale  time.Duration
	newest atomic.Pointer[posted]
	// observed is told of every round that is up.
	observed func(facts.Round)
	// permissions are those of the Redis user; nil does not ask for them.
	permissions *redisx.Permissions
}

// posted is a look with the time at which it was put up.
type posted struct {
	look httpapi.Look
	at   time.Time
}

// publish takes a round. The observer calls it, never twice at once.
func (b *board) publish(round facts.Round) {
	look := httpapi.Look{Round: round, Snapshot: b.book.Add(round)}
	b.newest.Store(&posted{look, clock.Now()})
	b.feed.Publish(look)
	b.observed(round)
}

// restructure takes the groups as they are now, in between two rounds: what is known of their
// shards stays, with its time. The observer calls it, never at once with publish.
func (b *board) restructure(groups []facts.Group) {
	newest := b.newest.Load()
	if newest == nil {
		return
	}
	look := newest.look
	look.Round.Groups, look.Round.Problem = groups, ""
	b.newest.Store(&posted{look, newest.at})
	b.feed.Update(look)
}

// Look implements httpapi.Source.
func (b *board) Look() (httpapi.Look, bool) {
	newest := b.newest.Load()
	if newest == nil {
		return httpapi.Look{}, false
	}
	return newest.look, true
}

// Ready implements httpapi.Health: a monitor whose rounds have stopped, or that was never
// allowed what it needs in Redis, should get no requests. That Redis or the coordinator does not
// answer is what it is there to show.
//
// It asks Redis nothing: rounds do, however many look (monitoring, Observe).
func (b *board) Ready(context.Context) error {
	if b.permissions != nil {
		if problem := b.permissions.LastUnready(); problem != "" {
			return protocol.Errorf(protocol.CodeStoreUnavailable, "%s", problem)
		}
	}
	newest := b.newest.Load()
	if newest == nil || clock.Since(newest.at) <= b.stale {
		return nil
	}
	return protocol.Errorf(protocol.CodeStoreUnavailable, "the last round is %v old", clock.Since(newest.at).Round(time.Second))
}
