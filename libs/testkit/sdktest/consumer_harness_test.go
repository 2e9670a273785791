package sdktest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

// errHandler is what failing handlers return.
var errHandler = errors.New("handler fails")

// stand is a Redis with the shards of one stream, a coordinator that does what the test
// says, and a client of both.
type stand struct {
	t      *testing.T
	redis  *redisproc.Server
	rdb    redis.UniversalClient
	coord  *scriptcoord.Coordinator
	client *client.Client
}

func newStand(t *testing.T, shards int, opts ...redisproc.Option) *stand {
	t.Helper()
	server := redisproc.Start(t, opts...)
	s := newStandOn(t, server.Client(t), shards)
	s.redis = server
	return s
}

func newStandOn(t *testing.T, rdb redis.UniversalClient, shards int) *stand {
	t.Helper()
	s := &stand{t: t, rdb: rdb, coord: scriptcoord.Start(t)}
	s.client = s.newClient(rdb)
	s.provision(shards)
	return s
}

// newClient returns a client of the coordinator that uses rdb.
func (s *stand) newClient(rdb redis.UniversalClient) *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: s.coord.URL(), Redis: rdb})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *stand) provision(shards int) {
	s.t.Helper()
	for shard := range shards {
		err := s.rdb.XGroupCreateMkStream(s.t.Context(), key(shard), group, "0").Err()
		require.NoError(s.t, err)
	}
}

func key(shard int) string { return routing.StreamKey(stream, shard) }

// publish adds records n = from … to-1 to a shard and returns their ids.
func (s *stand) publish(shard, from, to int) []string {
	s.t.Helper()
	ids := make([]string, 0, to-from)
	for n := from; n < to; n++ {
		id, err := s.rdb.XAdd(s.t.Context(), &redis.XAddArgs{
			Stream: key(shard), Values: []any{client.KeyField, "k" + strconv.Itoa(n), "n", n},
		}).Result()
		require.NoError(s.t, err)
		ids = append(ids, id)
	}
	return ids
}

// leavePending lets consumer read count records of a shard without acknowledging them.
func (s *stand) leavePending(shard int, consumer string, count int) {
	s.t.Helper()
	read, err := s.rdb.XReadGroup(s.t.Context(), &redis.XReadGroupArgs{
		Group: group, Consumer: consumer, Streams: []string{key(shard), ">"}, Count: int64(count), Block: -1,
	}).Result()
	require.NoError(s.t, err)
	require.Len(s.t, read[0].Messages, count)
}

func (s *stand) pending(shard int) int64 {
	pending, err := s.rdb.XPending(s.t.Context(), key(shard), group).Result()
	if err != nil {
		return -1
	}
	return pending.Count
}

func (s *stand) consumers(shard int) []string {
	infos, err := s.rdb.XInfoConsumers(s.t.Context(), key(shard), group).Result()
	require.NoError(s.t, err)
	names := make([]string, 0, len(infos))
	for _, info := range infos {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return names
}

// calls returns how often the server has carried out a command, by its own count.
func (s *stand) calls(command string) int {
	stats, err := s.rdb.Info(s.t.Context(), "commandstats").Result()
	require.NoError(s.t, err)
	_, rest, found := strings.Cut(stats, "cmdstat_"+command+":calls=")
	if !found {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	count, err := strconv.Atoi(digits)
	require.NoError(s.t, err)
	return count
}

// blocked returns how many clients wait in a blocking read.
func (s *stand) blocked() int {
	info, err := s.rdb.Info(s.t.Context(), "clients").Result()
	require.NoError(s.t, err)
	_, rest, _ := strings.Cut(info, "blocked_clients:")
	digits, _, _ := strings.Cut(rest, "\r")
	count, err := strconv.Atoi(digits)
	require.NoError(s.t, err)
	return count
}

// subscription is that of a member a, quick enough for tests.
func subscription(id string) client.Subscription {
	return client.Subscription{
		Stream: stream, Group: group, MemberID: id, PollTimeout: 50 * time.Millisecond,
		DrainTimeout: 5 * time.Second,
		Retry:        client.Retry{MinBackoff: 20 * time.Millisecond, MaxBackoff: 100 * time.Millisecond},
	}
}

// running is a Consumer whose Run has been started.
type running struct {
	*client.Consumer

	t    *testing.T
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// run starts a consumer that is stopped, at the latest, when the test ends.
func (s *stand) run(sub client.Subscription, handler client.Handler) *running {
	s.t.Helper()
	return s.runOn(s.client, sub, handler)
}

func (s *stand) runOn(c *client.Client, sub client.Subscription, handler client.Handler) *running {
	s.t.Helper()
	consumer, err := c.NewConsumer(sub, handler)
	require.NoError(s.t, err)
	return start(s.t, consumer)
}

func start(t *testing.T, consumer *client.Consumer) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{Consumer: consumer, t: t, stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = consumer.Run(ctx)
	}()
	t.Cleanup(func() { _ = r.end() })
	return r
}

// end stops the consumer and returns what Run returned.
func (r *running) end() error {
	r.stop()
	select {
	case <-r.done:
		return r.err
	case <-time.After(patience):
		r.t.Error("Run did not return")
		return nil
	}
}

// owns returns the shards that a consumer reads, over all its members.
func (r *running) owns() []int {
	var shards []int
	for _, member := range r.Status().Members {
		for _, shard := range member.Shards {
			if !shard.Revoking {
				shards = append(shards, shard.Index)
			}
		}
	}
	slices.Sort(shards)
	return shards
}

func (r *running) fault(shard int) string {
	for _, member := range r.Status().Members {
		for _, one := range member.Shards {
			if one.Index == shard {
				return one.Fault
			}
		}
	}
	return "not owned"
}

// seen is one call of a handler.
type seen struct {
	shard, n   int
	id         string
	deliveries int64
	fence      int64
	at         time.Time
}

// ledger notes what handlers were given.
type ledger struct {
	mu   sync.Mutex
	list []seen
}

func (l *ledger) note(m *client.Message) {
	n, err := strconv.Atoi(m.Fields["n"])
	if err != nil {
		n = -1
	}
	one := seen{shard: m.Shard, n: n, id: m.ID, deliveries: m.Deliveries, fence: m.FenceToken, at: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, one)
}

func (l *ledger) all() []seen {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func (l *ledger) count() int { return len(l.all()) }

// numbers returns the n of a shard in the order of handling.
func (l *ledger) numbers(shard int) []int {
	var result []int
	for _, one := range l.all() {
		if one.shard == shard {
			result = append(result, one.n)
		}
	}
	return result
}

// times returns how often the record n was handled.
func (l *ledger) times(n int) int {
	count := 0
	for _, one := range l.all() {
		if one.n == n {
			count++
		}
	}
	return count
}

// acking is a handler that notes and acknowledges.
func (l *ledger) acking(ctx context.Context, m *client.Message) error {
	l.note(m)
	return m.Ack(ctx)
}

// upTo returns 0 … n-1.
func upTo(n int) []int {
	result := make([]int, n)
	for i := range result {
		result[i] = i
	}
	return result
}

func eventually(t *testing.T, condition func() bool, claim string) {
	t.Helper()
	require.Eventually(t, condition, patience, tick, claim)
}
