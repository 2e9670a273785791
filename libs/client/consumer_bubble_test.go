package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

var errAway = errors.New("no coordinator")

// council is a coordinator in the bubble of a test. It grants what assigned says.
type council struct {
	mu       sync.Mutex
	assigned []int
	status   protocol.HeartbeatStatus // answered instead of OK when set
	away     bool
	latency  time.Duration
	epoch    int64
	requests []heard
}

// heard is a request and when it came, since the start of the bubble.
type heard struct {
	protocol.HeartbeatRequest

	at time.Duration
}

func (c *council) Heartbeat(
	ctx context.Context, _, _ string, request *protocol.HeartbeatRequest,
) (*protocol.HeartbeatResponse, error) {
	c.mu.Lock()
	c.requests = append(c.requests, heard{*request, time.Since(bubbleStart())})
	latency := c.latency
	c.mu.Unlock()
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return nil, errAway
	}
	return c.answer(request), nil
}

func (c *council) answer(request *protocol.HeartbeatRequest) *protocol.HeartbeatResponse {
	c.epoch++
	answer := &protocol.HeartbeatResponse{
		Status: protocol.StatusOK, MemberID: request.MemberID, MemberEpoch: c.epoch,
		HeartbeatIntervalMs: 1000, LeaseMs: 8000, Lineage: "L",
	}
	if c.status != "" {
		answer.Status = c.status
		return answer
	}
	for _, shard := range c.assigned {
		answer.Assignment.AssignedShards = append(answer.Assignment.AssignedShards, protocol.ShardID{ShardIndex: shard})
	}
	return answer
}

func (c *council) set(change func(*council)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

func (c *council) all() []heard {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

// bubbleStart is when every synctest bubble begins.
func bubbleStart() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// diary is a Lifecycle that writes down what it is told and when.
type diary struct {
	mu      sync.Mutex
	lines   []string
	revoked func(ctx context.Context, shard *OwnedShard) error // what OnRevoked does
	started func()                                             // what OnAssigned does
	shard   *OwnedShard                                        // the last one assigned
}

func (d *diary) write(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	d.lines = append(d.lines, fmt.Sprintf("%v %s", time.Since(bubbleStart()), line))
}

func (d *diary) OnAssigned(_ context.Context, shard *OwnedShard) {
	d.write("assigned %d", shard.Index)
	d.mu.Lock()
	d.shard = shard
	d.mu.Unlock()
	if d.started != nil {
		d.started()
	}
}

func (d *diary) OnRevoked(ctx context.Context, shard *OwnedShard) error {
	d.write("revoked %d", shard.Index)
	if d.revoked == nil {
		return nil
	}
	err := d.revoked(ctx, shard)
	d.write("revoked %d ends: %v", shard.Index, err)
	return err
}

func (d *diary) OnLost(shard *OwnedShard) { d.write("lost %d", shard.Index) }

func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

// bubble is a member that runs in a bubble of fake time.
type bubble struct {
	*council
	*diary

	t        *testing.T
	consumer *Consumer
	stop     context.CancelFunc
	done     chan error
}

// inBubble runs a test of one member that has been granted shards at the time 0.
func inBubble(t *testing.T, shards []int, test func(b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{council: &council{assigned: shards}, diary: &diary{}, t: t, done: make(chan error, 1)}
		c, err := New(Options{CoordinatorURL: "http://coordinator"})
		require.NoError(t, err)
		b.consumer, err = c.NewShardConsumer(Subscription{Stream: "orders", Group: "g", MemberID: "a"}, b.diary)
		require.NoError(t, err)
		b.consumer.coordinator = b.council
		ctx, cancel := context.WithCancel(t.Context())
		b.stop = cancel
		go func() { b.done <- b.consumer.Run(ctx) }()
		defer func() { // also when the test fails: a bubble has to end empty
			cancel()
			b.pass(time.Minute)
			synctest.Wait()
		}()
		synctest.Wait()
		test(b)
	})
}

// until lets the time of the bubble go on to at.
func (b *bubble) until(at time.Duration) {
	b.pass(at - time.Since(bubbleStart()))
	synctest.Wait()
}

// pass waits for d of the bubble's time.
func (b *bubble) pass(d time.Duration) { <-time.After(d) }

func (b *bubble) held() bool {
	b.diary.mu.Lock()
	defer b.diary.mu.Unlock()
	return b.shard.Held()
}
