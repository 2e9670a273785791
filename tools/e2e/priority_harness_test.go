package e2e_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// awayLease is for how long members of a draining go on without their coordinator.
const awayLease = 48 * time.Second

// draining is a suite in which member a of two was told to drop half of the shards, has a
// record of each in hand, and reports that it drains.
type draining struct {
	*suite

	rdb   redis.UniversalClient
	open  chan struct{} // closed: handlers may end
	group *protocol.GroupResponse
	moved []int // the shards that b waits for
	a, b  book
}

// book notes the handlings of one consumer.
type book struct {
	*client.Consumer

	mu      sync.Mutex
	records map[int][]string // ids by shard
}

func (b *book) note(m *client.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[m.Shard] = append(b.records[m.Shard], m.ID)
}

// count returns how many records of these shards were begun.
func (b *book) count(indexes ...int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for _, shard := range indexes {
		count += len(b.records[shard])
	}
	return count
}

func startDraining(t *testing.T) *draining {
	t.Helper()
	d := &draining{
		// Nobody's lease is over, however long the coordinator is away.
		suite: startSuite(t, "--coordination-member-lease-ttl", "60s", "--coordination-client-lease", awayLease.String(),
			"--coordination-rebalance-timeout", "2m"),
		open: make(chan struct{}),
	}
	d.createStream()
	d.rdb = d.connect()
	d.run(&d.a, "a", func(ctx context.Context, m *client.Message) error {
		d.a.note(m)
		<-d.open
		return m.Ack(ctx)
	})
	d.stable(1)
	every := make([]int, shards)
	for shard := range every {
		every[shard] = shard
		d.add(shard)
	}
	d.eventually(func() bool { return d.a.count(every...) == shards }, "a record of each shard is in hand")
	d.run(&d.b, "b", func(ctx context.Context, m *client.Message) error {
		d.b.note(m)
		return m.Ack(ctx)
	})
	d.eventually(func() bool { return d.givingBack() == shards/2 }, "a was told to drop half of them")
	d.moved = d.told()
	require.Len(t, d.moved, shards/2)
	group, err := d.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)
	require.Equal(t, protocol.GroupReconciling, group.State)
	d.group = group
	return d
}

// connect returns a client of the suite's Redis.
func (s *suite) connect() redis.UniversalClient {
	s.t.Helper()
	rdb, err := redisx.New(redisx.Options{URL: s.redis})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// run starts a consumer in the test's own process.
func (d *draining) run(b *book, id string, handler client.Handler) {
	d.t.Helper()
	b.records = map[int][]string{}
	c, err := client.New(client.Options{CoordinatorURL: d.url(), Redis: d.rdb})
	require.NoError(d.t, err)
	b.Consumer, err = c.NewConsumer(client.Subscription{
		Stream: stream, Group: group, MemberID: id, Workers: shards, PollTimeout: 100 * time.Millisecond,
		ClientLease: awayLease,
	}, handler)
	require.NoError(d.t, err)
	ctx, cancel := context.WithCancel(d.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = b.Consumer.Run(ctx)
	}()
	d.t.Cleanup(func() {
		d.letGo()
		cancel()
		<-done
		_ = c.Close()
	})
}

// letGo lets the handlers end.
func (d *draining) letGo() {
	select {
	case <-d.open:
	default:
		close(d.open)
	}
}

func (d *draining) add(shard int) {
	d.t.Helper()
	key := routing.StreamKey(stream, shard)
	require.NoError(d.t, d.rdb.XAdd(d.t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"n", 1}}).Err())
}

// told returns the shards that a was told to drop and holds, as the coordinator says.
func (s *suite) told() []int {
	list, err := s.admin.Members(s.t.Context(), stream, group)
	if err != nil {
		return nil
	}
	var indexes []int
	for _, one := range list {
		if one.MemberID == "a" {
			for _, shard := range one.Revoking {
				indexes = append(indexes, shard.ShardIndex)
			}
		}
	}
	return indexes
}

// givingBack returns how many shards a gives back, as it knows it itself.
func (d *draining) givingBack() int {
	count := 0
	for _, shard := range d.a.Status().Members[0].Shards {
		if shard.Revoking {
			count++
		}
	}
	return count
}

// heard returns when a was last heard.
func (d *draining) heard() time.Time {
	d.t.Helper()
	list, err := d.admin.Members(d.t.Context(), stream, group)
	require.NoError(d.t, err)
	for _, one := range list {
		if one.MemberID == "a" {
			return one.LastHeartbeatAt.Time
		}
	}
	return time.Time{}
}

// finish waits until b has read what is in its shards, and shows that nobody was fenced.
func (d *draining) finish() {
	d.t.Helper()
	d.eventually(func() bool { return d.b.count(d.moved...) == len(d.moved) }, "b reads its shards")
	live := d.stable(2)
	require.Len(d.t, live["a"].CurrentAssignment, shards/2)
	require.Len(d.t, live["b"].CurrentAssignment, shards/2)
	after, err := d.admin.Group(d.t.Context(), stream, group)
	require.NoError(d.t, err)
	require.Equal(d.t, d.group.Lineage, after.Lineage, "no correction round")
	require.Equal(d.t, d.group.GroupEpoch, after.GroupEpoch, "nobody joined, left or expired for it")
	require.Equal(d.t, len(d.moved), d.a.count(d.moved...), "a began no more of them")
	require.Zero(d.t, d.a.Status().Counters.Lapses)
}
