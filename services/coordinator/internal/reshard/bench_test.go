package reshard_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/catalog"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; it is never reached when all is well.
const patience = 2 * time.Minute

// bench is a Redis with a stream "orders" on it, its coordinators and its members.
type bench struct {
	t      *testing.T
	rdb    *redis.Client
	prefix string
	core   group.Config
	cfg    reshard.Config
	lead   *coordinator // whom operators and members ask
	crew   []*member
}

// coordinator is one coordinator on the Redis of a bench.
type coordinator struct {
	kept    *fusedStore
	shards  *faultyShards
	loop    *loop.Loop
	catalog *catalog.Catalog
	service *reshard.Service
	driver  *reshard.Driver
}

// newBench is a bench without coordinators. Its timing is that of the suite, but the
// driver's.
func newBench(t *testing.T, rdb *redis.Client) *bench {
	t.Helper()
	b := &bench{t: t, rdb: rdb, prefix: "orders", core: group.DefaultConfig(), cfg: reshard.DefaultConfig()}
	b.cfg.Interval, b.cfg.RoutingLease = 10*time.Millisecond, 20*time.Millisecond
	return b
}

// open is a bench on a Redis of its own with one coordinator that works by itself, and
// the stream with so many shards and groups.
func open(t *testing.T, shards int, groups ...string) *bench {
	t.Helper()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.begin(shards, groups...)
	return b
}

// begin starts the first coordinator and makes the stream.
func (b *bench) begin(shards int, groups ...string) {
	b.t.Helper()
	b.lead = b.start()
	b.create(shards, groups...)
}

func (b *bench) create(shards int, groups ...string) {
	b.t.Helper()
	_, err := b.lead.catalog.CreateStream(b.t.Context(), b.prefix, protocol.CreateStreamRequest{
		InitialShardCount: &shards, ConsumerGroups: groups, RequestedBy: "t",
	})
	require.NoError(b.t, err)
}

// lasting is a bench of which no lease and no barrier ends by itself.
func lasting(t *testing.T, shards int, groups ...string) *bench {
	t.Helper()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.core.Lease, b.core.ClientLease, b.core.RebalanceTimeout = 5*time.Minute, 4*time.Minute, 10*time.Minute
	b.begin(shards, groups...)
	return b
}

// start adds a coordinator that works by itself.
func (b *bench) start() *coordinator {
	b.t.Helper()
	c := b.still()
	c.loop.Start()
	c.driver.Start()
	return c
}

// still adds a coordinator that does only what it is asked to.
func (b *bench) still() *coordinator {
	b.t.Helper()
	opened, err := redisstore.New(b.rdb, redisstore.Options{})
	require.NoError(b.t, err)
	log := slog.New(slog.DiscardHandler)
	c := &coordinator{
		kept:   &fusedStore{Faulty: storetest.NewFaulty(opened)},
		shards: &faultyShards{Shards: provision.NewShards(b.rdb, "", log)},
	}
	settings := loop.DefaultConfig()
	settings.Group, settings.Interval = b.core, 20*time.Millisecond
	c.loop = loop.New(settings, c.kept, rand.Text, log)
	catalogued := catalog.DefaultConfig()
	catalogued.Group, catalogued.RoutingLease = b.core, b.cfg.RoutingLease
	c.catalog = catalog.New(catalogued, c.kept, c.loop, provision.NewShards(b.rdb, "", log), rand.Text, log)
	kept := records.Records{Store: c.kept, Nonce: rand.Text, LeaseTTL: b.cfg.LeaseTTL, Schema: codec.Newest, Log: log}
	c.driver = reshard.NewDriver(b.cfg, kept, c.loop, c.shards, log)
	c.loop.Attend(c.driver.Attend)
	c.service = reshard.NewService(b.cfg, kept, c.loop, c.shards, c.driver, rand.Text)
	b.t.Cleanup(func() {
		ctx := context.WithoutCancel(b.t.Context())
		require.NoError(b.t, c.driver.Close(ctx))
		require.NoError(b.t, c.loop.Close(ctx))
	})
	return c
}

// await lets the members work until something has come about.
func (b *bench) await(what string, come func() bool) {
	b.t.Helper()
	began := clock.Now()
	pause := clock.NewTicker(3 * time.Millisecond)
	defer pause.Stop()
	for {
		b.work()
		if come() {
			return
		}
		if clock.Since(began) > patience {
			require.FailNow(b.t, "waited in vain", "%s; the stream is %+v, resharding %+v", what, b.stream(), b.stream().Resharding)
		}
		<-pause.C
	}
}

// work gives every member a turn.
func (b *bench) work() {
	b.t.Helper()
	for _, m := range b.crew {
		m.turn()
	}
}

func (b *bench) stream() stream.Stream {
	b.t.Helper()
	s, _, err := loop.LoadStream(b.t.Context(), b.lead.kept, b.prefix)
	require.NoError(b.t, err)
	return s
}

func (b *bench) group(name string) *group.Group {
	b.t.Helper()
	v, err := b.lead.loop.View(b.t.Context(), store.Key{Stream: b.prefix, Group: name})
	require.NoError(b.t, err)
	return v.Group
}

func (b *bench) scale(to int) (string, error) {
	b.t.Helper()
	return b.lead.scale(b.t, b.prefix, to)
}

func (c *coordinator) scale(t *testing.T, prefix string, to int) (string, error) {
	t.Helper()
	answer, err := c.service.Scale(t.Context(), prefix, protocol.ScaleRequest{TargetShardCount: &to, RequestedBy: "ops", Reason: "load"})
	if err != nil {
		return "", err
	}
	require.Len(t, answer.Migrations, 1, "one resharding for all groups (L1)")
	return answer.Migrations[0].ReshardingID, nil
}

// scaled begins a resharding that is taken.
func (b *bench) scaled(to int) string {
	b.t.Helper()
	id, err := b.scale(to)
	require.NoError(b.t, err)
	return id
}

func (b *bench) rollback(id string) error {
	b.t.Helper()
	_, err := b.lead.service.Rollback(b.t.Context(), b.prefix, b.someGroup(), id, protocol.RollbackRequest{RequestedBy: "ops", Reason: "regret"})
	return err
}

func (b *bench) confirm(id string, index int) error {
	b.t.Helper()
	_, err := b.lead.service.ConfirmDrain(b.t.Context(), b.prefix, b.someGroup(), id, protocol.ConfirmDrainRequest{
		ShardIndex: &index, RequestedBy: "ops", Reason: "looked at it",
	})
	return err
}

func (b *bench) migration(id string) protocol.Migration {
	b.t.Helper()
	shown, err := b.lead.service.Migration(b.t.Context(), b.prefix, b.someGroup(), id)
	require.NoError(b.t, err)
	return shown
}

func (b *bench) someGroup() string { return b.stream().Active()[0] }

// drain shows one removed shard.
func (b *bench) drain(id string, index int) protocol.ShardDrain {
	b.t.Helper()
	for _, shard := range b.migration(id).Progress.Shards {
		if shard.ShardIndex == index {
			return shard
		}
	}
	return protocol.ShardDrain{}
}

// becomes waits for a state of a resharding.
func (b *bench) becomes(id string, state protocol.MigrationState) {
	b.t.Helper()
	b.await(fmt.Sprintf("resharding in state %s", state), func() bool { return b.migration(id).State == state })
}

// keptFor waits until a removed shard is kept from being sealed by that reason.
func (b *bench) keptFor(id string, index int, reason protocol.DrainReason) {
	b.t.Helper()
	b.await(fmt.Sprintf("shard %d kept by %s", index, reason), func() bool {
		shown := b.drain(id, index)
		return shown.Reason != nil && *shown.Reason == reason
	})
}

// settled waits until every group has the stream's layout and is at rest.
func (b *bench) settled() {
	b.t.Helper()
	b.await("all groups at rest", func() bool {
		s := b.stream()
		for _, name := range s.Active() {
			if g := b.group(name); g.LayoutVersion != s.LayoutVersion || !g.Settled() {
				return false
			}
		}
		return true
	})
}

// barrier raises the barrier of a group, on an operator's word (M2).
func (b *bench) barrier(name string) {
	b.t.Helper()
	_, err := b.lead.catalog.Barrier(b.t.Context(), b.prefix, name, protocol.BarrierRequest{RequestedBy: "ops", Reason: "t"})
	require.NoError(b.t, err)
}

// unbar ends the barrier of a group as its time would.
func (b *bench) unbar(name string) {
	b.t.Helper()
	key := store.Key{Stream: b.prefix, Group: name}
	_, err := b.lead.loop.Order(b.t.Context(), key, group.Order{Kind: group.OrderUnbar}, recorder.Order{})
	require.NoError(b.t, err)
}

func (b *bench) key(index int) string { return fmt.Sprintf("%s:%d", b.prefix, index) }

// publish adds records to a shard and returns their ids.
func (b *bench) publish(index, count int) {
	b.t.Helper()
	for range count {
		require.NoError(b.t, b.rdb.XAdd(b.t.Context(), &redis.XAddArgs{
			Stream: b.key(index), NoMkStream: true, Values: []string{"f", "v"},
		}).Err(), "shard %d", index)
	}
}

func (b *bench) do(args ...any) any {
	b.t.Helper()
	answer, err := b.rdb.Do(b.t.Context(), args...).Result()
	require.NoError(b.t, err, "%v", args)
	return answer
}

func requireCode(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
}
