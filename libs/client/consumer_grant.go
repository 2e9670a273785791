package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// grant is one shard from the OK that started it until nothing of it runs any more. A shard
// that is granted again is another grant, which waits for the end of the one before.
type grant struct {
	session *session
	shard   int
	number  int64
	fence   int64
	key     string

	ctx    context.Context // It is the life of the grant, not of a call.
	cancel context.CancelFunc
	// stop is closed when nothing new may be started, lost when the shard was dropped, ended
	// when nothing runs any more.
	stop  chan struct{}
	lost  chan struct{}
	ended chan struct{}
	// before is the grant of the same shard that this process had last; nil without one.
	before *grant
	// pending counts delivered records that are not settled; nil where nobody knows.
	pending func() int64
	// wake ends a read that is out, so that a hand-over need not wait for it; nil where nobody can.
	wake func()

	stopped  atomic.Bool // revoked or dropped
	dropped  atomic.Bool
	inFlight atomic.Int64

	mu      sync.Mutex
	reading bool
	drainBy time.Duration // 0 until revoked
	fault   string        // why the shard cannot be read
	missing string        // the fault in the words of the protocol (L12); empty when it is another
	// deliveredID and ackedID are the last of their kind; empty before.
	deliveredID, ackedID string
}

func newGrant(s *session, action member.Action) *grant {
	g := &grant{
		session: s, shard: action.Shard, number: action.Grant, fence: action.Fence,
		key:   routing.StreamKey(s.consumer.sub.Stream, action.Shard),
		stop:  make(chan struct{}),
		lost:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(s.work)
	g.before = s.consumer.books.succeed(g)
	return g
}

// run does the work of the grant and tells the session when it has ended.
func (g *grant) run(w worker) {
	if g.awaitBefore() {
		w.work(g)
	}
	g.cancel()
	close(g.ended)
	g.session.post(event{kind: workEnded, grant: g})
}

// awaitBefore waits until the grant before has ended, at most for DrainTimeout: what a stuck
// handler of it still holds is not touched (field case F10). It reports false when the
// grant has been stopped meanwhile.
func (g *grant) awaitBefore() bool {
	if g.before == nil {
		return !g.stopped.Load()
	}
	timer := clock.NewTimer(g.session.consumer.sub.DrainTimeout)
	defer timer.Stop()
	select {
	case <-g.before.ended:
	case <-timer.C:
	case <-g.stop:
	}
	g.before = nil
	return !g.stopped.Load()
}

// mayStart tells whether a read or a handler may be started now (protocol H5).
func (g *grant) mayStart() bool { return !g.stopped.Load() && g.session.leaseLeft() > 0 }

// mayAck tells whether records of the shard may be acknowledged now (protocol H5).
func (g *grant) mayAck() bool { return !g.dropped.Load() && g.session.leaseLeft() > 0 }

// beginRead tells whether a read may be sent; endRead is called when it has returned.
func (g *grant) beginRead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reading = g.mayStart()
	return g.reading
}

func (g *grant) endRead() {
	g.mu.Lock()
	g.reading = false
	revoked := g.stopped.Load()
	g.mu.Unlock()
	if revoked {
		g.session.post(event{kind: readStopped, grant: g})
	}
}

// isReading tells whether a read is out.
func (g *grant) isReading() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reading
}

// revoke stops new reads and handlers, and reports whether a read is still out. Handlers
// have until drainBy; then their context ends.
func (g *grant) revoke(drainBy time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drainBy = drainBy
	g.halt()
	return g.reading
}

// drop stops everything: no acknowledgement any more, and handlers are told.
func (g *grant) drop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped.CompareAndSwap(false, true) {
		close(g.lost)
	}
	g.halt()
	g.cancel()
}

func (g *grant) halt() {
	if g.stopped.CompareAndSwap(false, true) {
		close(g.stop)
	}
}

// expire ends the context of handlers that have used up the time to drain, and returns when
// that is otherwise; 0 is never.
func (g *grant) expire(now time.Duration) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.drainBy == 0 || g.ctx.Err() != nil {
		return 0
	}
	if now >= g.drainBy {
		g.cancel()
		return 0
	}
	return g.drainBy
}

// pause waits for d, and reports false when the grant was stopped first.
func (g *grant) pause(d time.Duration) bool {
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.stop:
		return false
	}
}

// report returns the progress for a heartbeat.
func (g *grant) report() protocol.ShardProgress {
	g.mu.Lock()
	defer g.mu.Unlock()
	progress := protocol.ShardProgress{
		Shard: protocol.ShardID{ShardIndex: g.shard}, StreamKey: g.key, Error: g.missing,
	}
	if id := g.deliveredID; id != "" {
		progress.LastDeliveredID = &id
	}
	if id := g.ackedID; id != "" {
		progress.LastAckedID = &id
	}
	if g.pending != nil {
		progress.PendingCount = g.pending()
	}
	return progress
}

// delivered notes the last record that was read.
func (g *grant) delivered(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deliveredID = id
}

// troubled notes why the shard cannot be read; empty texts when it can.
func (g *grant) troubled(fault, missing string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fault, g.missing = fault, missing
}
