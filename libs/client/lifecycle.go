package client

import (
	"context"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// revokeRetry is the pause before OnRevoked is called again after an error.
const revokeRetry = time.Second

// OwnedShard is a shard that a member holds. It is a value to ask, not a lock: the right to
// read ends with Held.
type OwnedShard struct {
	// Index is the shard, StreamKey its Redis key.
	Index     int
	StreamKey string
	// MemberID is the name to use as the Redis consumer.
	MemberID string
	// FenceToken grows with every change of owner of the shard (protocol E1).
	FenceToken int64

	grant *grant
}

// Held tells whether a read or a handling may be started now. It has to be asked before each
// read, after each read has returned, and before each handling (protocol H5).
func (o *OwnedShard) Held() bool { return o.grant.mayStart() }

// MayAck tells whether records of the shard may be acknowledged now: until the hand-over has
// been confirmed, and within the lease.
func (o *OwnedShard) MayAck() bool { return o.grant.mayAck() }

// LeaseLeft returns how long the member may act if no heartbeat is answered any more; a
// blocking read must not last longer.
func (o *OwnedShard) LeaseLeft() time.Duration { return max(o.grant.session.leaseLeft(), 0) }

// Lifecycle is told which shards an application with readers of its own may read. The calls
// for one shard come one after the other; those for different shards come at the same time.
// Each may be repeated for a shard and must then do no harm.
type Lifecycle interface {
	// OnAssigned starts reading a shard and returns soon. Records that former owners left
	// pending come first. The context ends when the shard is lost.
	OnAssigned(ctx context.Context, shard *OwnedShard)
	// OnRevoked stops reading a shard and returns nil when nothing of it runs any more and
	// its acknowledgements are out; then another member gets it. The context ends after
	// DrainTimeout. After an error it is called again.
	OnRevoked(ctx context.Context, shard *OwnedShard) error
	// OnLost tells that a shard is gone already: stop at once and acknowledge nothing.
	OnLost(shard *OwnedShard)
}

// Shards joins the group like Consume, but leaves reading to the application. Of sub it uses
// what concerns membership: the names, Concurrency, Workers, MemberID, MemberName,
// DrainTimeout, ClientLease, FailFast and LeaveMode. It needs no Options.Redis.
func (c *Client) Shards(ctx context.Context, sub Subscription, lifecycle Lifecycle) error {
	consumer, err := c.NewShardConsumer(sub, lifecycle)
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

// NewShardConsumer returns the Consumer behind Shards, for its Status.
func (c *Client) NewShardConsumer(sub Subscription, lifecycle Lifecycle) (*Consumer, error) {
	if lifecycle == nil {
		return nil, fmt.Errorf("%w: no lifecycle", ErrInvalidSubscription)
	}
	consumer, err := newConsumer(c, sub)
	if err != nil {
		return nil, err
	}
	consumer.newWorker = func(*session, *grant) worker { return guest{lifecycle} }
	return consumer, nil
}

// guest is the worker of a shard that the application reads.
type guest struct {
	lifecycle Lifecycle
}

// work implements worker.
func (w guest) work(g *grant) {
	shard := &OwnedShard{
		Index: g.shard, StreamKey: g.key, MemberID: g.session.id, FenceToken: g.fence, grant: g,
	}
	w.lifecycle.OnAssigned(g.ctx, shard)
	<-g.stop
	for !g.dropped.Load() {
		err := w.lifecycle.OnRevoked(g.ctx, shard)
		if err == nil {
			return
		}
		g.session.log.Warn("hand-over failed", "shard", g.shard, "error", err)
		if !w.pause(g) {
			break
		}
	}
	w.lifecycle.OnLost(shard)
}

// pause waits before the next try; false when the shard is lost, or when its time to drain is
// over: then only the coordinator can end the hand-over.
func (w guest) pause(g *grant) bool {
	timer := clock.NewTimer(revokeRetry)
	defer timer.Stop()
	select {
	case <-timer.C:
		return !g.dropped.Load()
	case <-g.ctx.Done():
		<-g.lost
		return false
	}
}
