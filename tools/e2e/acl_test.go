package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const deadLetters = "orders-dead-letter"

// errPoison is what the handler says of the record that nobody can handle.
var errPoison = errors.New("poison")

// TestEveryRoleWorksWithItsShippedPermissions: with the default user off, each service and each
// side of the SDK does all that it does with the lines of deploy/redis, and Redis refuses them
// nothing (reliability 5, Redis).
func TestEveryRoleWorksWithItsShippedPermissions(t *testing.T) {
	t.Parallel()
	lifeWithRoles(t, false)
}

// TestEveryRoleWorksWithItsShippedPermissionsOnACluster does the same on a cluster.
func TestEveryRoleWorksWithItsShippedPermissionsOnACluster(t *testing.T) {
	t.Parallel()
	lifeWithRoles(t, true)
}

func lifeWithRoles(t *testing.T, clustered bool) {
	t.Helper()
	on := startGuardedRedis(t, clustered)
	s := startRoles(t, on)
	admin := s.administrator()
	s.passes(createStream(s.ops, stream), http.StatusCreated)
	flow := s.flow()
	flow.join(client.Subscription{AckMode: client.AckAfterHandler})
	flow.publish(200)
	flow.join(client.Subscription{AckMode: client.AckAfterHandler, FencedAcks: true})
	flow.publish(200)
	for _, count := range []int{4, 2} {
		s.scale(admin, count)
		flow.publish(200)
	}
	flow.leave(0)
	flow.publish(100)
	s.look(admin)
	flow.stop()
	s.settle(admin)
	require.Empty(t, on.denials(), "what Redis has refused")
}

// administrator returns a client of the gateway that logs in.
func (s *roles) administrator() *client.Admin {
	s.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: s.gateways[0].url(), Login: client.WithLogin(userOps, passwordOf(userOps))})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c.Admin()
}

// scale changes the shard count and waits for the end of it.
func (s *roles) scale(admin *client.Admin, count int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), scaleBudget)
	defer cancel()
	answer, err := admin.Scale(ctx, stream, protocol.ScaleRequest{TargetShardCount: &count, RequestedBy: "e2e", Reason: "load"})
	require.NoError(s.t, err)
	done, err := admin.WatchMigrationWith(ctx, stream, group, answer.Migrations[0].ReshardingID,
		client.WatchOptions{Interval: 100 * time.Millisecond}, func(protocol.Migration) {})
	require.NoError(s.t, err)
	require.Equal(s.t, protocol.MigrationDeprecated, done.State)
}

// look asks for everything that is shown.
func (s *roles) look(admin *client.Admin) {
	s.t.Helper()
	ctx := s.t.Context()
	require.Eventually(s.t, func() bool {
		shown, err := admin.MonitoredGroup(ctx, stream, group)
		return err == nil && !shown.ObservedAt.IsZero() && !shown.Partial
	}, patience, seldom, "the monitor shows all shards")
	_, err := admin.Messages(ctx, stream, group, 0, client.MessageQuery{})
	require.NoError(s.t, err)
	_, err = admin.Pending(ctx, stream, group, 0, client.PendingQuery{})
	require.NoError(s.t, err)
	rows, err := admin.ShardRows(ctx, stream, group)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, rows)
	events, err := admin.Events(ctx, stream, group, "", 10)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, events.Events)
	_, err = admin.RepairIndex(ctx, protocol.RepairIndexRequest{RequestedBy: "e2e", Reason: "a look at everything"})
	require.NoError(s.t, err)
	for _, query := range []client.AuditQuery{{}, {StreamPrefix: stream}, {StreamPrefix: stream, ConsumerGroup: group}} {
		_, err := admin.Audit(ctx, query)
		require.NoError(s.t, err)
	}
	require.NotEmpty(s.t, s.audit(s.ops))
	require.Eventually(s.t, func() bool {
		health := s.health()
		return health.Status == protocol.HealthUp && len(health.Problems) == 0
	}, patience, seldom, "nothing is wrong")
}

// settle removes everything and logs out.
func (s *roles) settle(admin *client.Admin) {
	s.t.Helper()
	ctx := s.t.Context()
	once, err := admin.Once("a-key-of-this-test")
	require.NoError(s.t, err)
	for range 2 { // the second answer comes from what is kept of the first
		_, err = once.CreateGroup(ctx, stream, "later", protocol.CreateGroupRequest{RequestedBy: "e2e"})
		require.NoError(s.t, err)
	}
	_, err = admin.DeleteStream(ctx, stream, protocol.DeleteRequest{RequestedBy: "e2e", Reason: "the end", Force: true, DeleteStreams: true})
	require.NoError(s.t, err)
	require.NoError(s.t, admin.Logout(ctx))
}

// flow are a producer and consumers of the stream, each side with the rights of its role.
type flow struct {
	s        *roles
	rdb      redis.UniversalClient // of the consumers
	producer *client.Producer
	ends     []context.CancelFunc
	running  sync.WaitGroup

	sent    int
	mu      sync.Mutex
	handled map[string]bool
	buried  atomic.Int64
}

func (s *roles) flow() *flow {
	s.t.Helper()
	f := &flow{s: s, rdb: s.redis.connect(roleConsumer), handled: map[string]bool{}}
	c := f.client(s.redis.connect(roleProducer))
	var err error
	f.producer, err = c.NewProducer(s.t.Context(), stream, group, client.ProducerOptions{MaxLen: 100_000})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = f.producer.Close(context.WithoutCancel(s.t.Context())) })
	s.t.Cleanup(f.stop)
	return f
}

func (f *flow) client(rdb redis.UniversalClient) *client.Client {
	f.s.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: f.s.coordinators[0].url(), Redis: rdb})
	require.NoError(f.s.t, err)
	f.s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// join starts a consumer.
func (f *flow) join(as client.Subscription) {
	t := f.s.t
	t.Helper()
	as.Stream, as.Group, as.Concurrency, as.MemberID = stream, group, 2, fmt.Sprintf("pod-%d", len(f.ends))
	as.SweepInterval, as.FormerConsumerIdle = time.Second, time.Millisecond
	as.Retry = client.Retry{
		MinBackoff: 10 * time.Millisecond, MaxBackoff: 10 * time.Millisecond, MaxDeliveries: 4, DeadLetter: deadLetters,
		OnDeadLetter: func(context.Context, *client.Message, error) error { f.buried.Add(1); return nil },
	}
	ctx, end := context.WithCancel(t.Context())
	f.ends = append(f.ends, end)
	c := f.client(f.rdb)
	f.running.Go(func() {
		if err := c.Consume(ctx, as, f.handle); err != nil {
			t.Errorf("%s has ended: %v", as.MemberID, err)
		}
	})
}

func (f *flow) handle(ctx context.Context, m *client.Message) error {
	if m.Fields["poison"] == "true" {
		return errPoison
	}
	f.mu.Lock()
	f.handled[m.Fields["seq"]] = true
	odd := len(f.handled)%2 == 1
	f.mu.Unlock()
	if odd {
		return m.AckDel(ctx)
	}
	return nil
}

// publish publishes so many records more and one that is poison, and waits until all that was
// published is handled or buried.
func (f *flow) publish(count int) {
	t := f.s.t
	t.Helper()
	for range count {
		f.sent++
		_, err := f.producer.Publish(t.Context(), fmt.Sprintf("key-%d", f.sent), map[string]any{"seq": f.sent})
		require.NoError(t, err)
	}
	buried := f.buried.Load()
	_, err := f.producer.Publish(t.Context(), "poison", map[string]any{"poison": "true"})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.handled) == f.sent && f.buried.Load() > buried
	}, patience, often, "all is handled")
}

// leave has one consumer leave for good.
func (f *flow) leave(number int) { f.ends[number]() }

// stop has all leave, and waits for it.
func (f *flow) stop() {
	for _, end := range f.ends {
		end()
	}
	f.running.Wait()
}
