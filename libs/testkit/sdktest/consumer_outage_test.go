package sdktest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestFieldF13LostGroupIsReportedAndNotRecreatedByTheClient(t *testing.T) {
	t.Parallel()
	s := newStand(t, 2)
	s.coord.Assign("a", 0, 1)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	s.publish(0, 0, 1)
	eventually(t, func() bool { return book.count() == 1 }, "it reads")
	require.NoError(t, s.rdb.FlushAll(t.Context()).Err())
	reported := func() bool {
		progress := s.coord.Last("a").ShardProgress
		return len(progress) == 2 && progress[0].Error == protocol.ShardErrorStreamMissing &&
			progress[1].Error == protocol.ShardErrorStreamMissing
	}
	eventually(t, reported, "the next heartbeats say so")
	began := time.Now()
	require.NoError(t, s.rdb.ConfigResetStat(t.Context()).Err())
	require.Never(t, func() bool { return s.rdb.Exists(t.Context(), key(0), key(1)).Val() > 0 }, 1500*time.Millisecond, 50*time.Millisecond)
	attempts := s.calls("xreadgroup") + s.calls("xpending")
	require.LessOrEqual(t, attempts, 2*(int(time.Since(began)/time.Second)+1), "at most one a second for each shard")

	s.provision(2)
	s.publish(0, 1, 2)
	eventually(t, func() bool { return book.count() == 2 }, "it goes on when the group is there again")
	eventually(t, func() bool { return s.coord.Last("a").ShardProgress[0].Error == "" }, "and says so")
	require.Empty(t, a.fault(0))
}

// What ends a read that is out: three texts for one state.
func TestFieldF15StreamOrGroupGoesWhileAReadIsOut(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		destroy []any
		fault   string
	}{
		"the stream is deleted":        {[]any{"DEL", key(0)}, protocol.ShardErrorStreamMissing},
		"the group is destroyed":       {[]any{"XGROUP", "DESTROY", key(0), group}, protocol.ShardErrorGroupMissing},
		"the key becomes another type": {[]any{"SET", key(0), "sealed"}, protocol.ShardErrorStreamMissing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 1)
			s.coord.Assign("a", 0)
			var book ledger
			sub := subscription("a")
			sub.PollTimeout = 5 * time.Second
			a := s.run(sub, book.acking)
			eventually(t, func() bool { return s.blocked() == 1 }, "a read is out")
			require.NoError(t, s.rdb.Do(t.Context(), test.destroy...).Err())
			eventually(t, func() bool { return a.fault(0) == test.fault }, "it is noticed at once")
			require.NoError(t, s.rdb.Del(t.Context(), key(0)).Err())
			s.provision(1)
			s.publish(0, 0, 1)
			eventually(t, func() bool { return book.count() == 1 }, "and waited out")
			require.Equal(t, []int{0}, a.owns())
		})
	}
}

// The reply to a blocking read never comes, or the connection breaks: what it carried is found.
func TestFieldF16LostReplyOfABlockingReadIsNoDataAndItsRecordsAreFound(t *testing.T) {
	t.Parallel()
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		var lose atomic.Bool
		loseReply(t, &lose, &wiretap{swallow: readArmed(&lose)})
	})
	t.Run("broken connection", func(t *testing.T) {
		t.Parallel()
		var lose atomic.Bool
		loseReply(t, &lose, &wiretap{cut: readArmed(&lose)})
	})
}

func readArmed(lose *atomic.Bool) func(command string) bool {
	return func(command string) bool {
		return strings.HasPrefix(command, "xreadgroup") && lose.CompareAndSwap(true, false)
	}
}

func loseReply(t *testing.T, lose *atomic.Bool, tap *wiretap) {
	t.Helper()
	s := newStand(t, 1)
	rdb := tap.client(s.redis.Addr())
	t.Cleanup(func() { _ = rdb.Close() })
	s.coord.Assign("a", 0)
	var book ledger
	a := s.runOn(s.newClient(rdb), subscription("a"), book.acking)
	s.publish(0, 0, 3)
	eventually(t, func() bool { return book.count() == 3 }, "it reads")
	lose.Store(true)
	eventually(t, func() bool { return !lose.Load() }, "a reply will be lost")
	s.publish(0, 3, 6)
	eventually(t, func() bool { return book.count() == 6 && s.pending(0) == 0 }, "its records are handled")
	require.Equal(t, upTo(6), book.numbers(0))
	require.Empty(t, a.fault(0))
	require.Zero(t, a.Status().Counters.Lapses)
}

func TestFieldF16BlockEndsBeforeTheLease(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	var (
		mu     sync.Mutex
		blocks []int
	)
	tap := &wiretap{seen: func(command string) {
		if _, rest, found := strings.Cut(command, " block "); found {
			block, _, _ := strings.Cut(rest, " ")
			ms, _ := strconv.Atoi(block)
			mu.Lock()
			defer mu.Unlock()
			blocks = append(blocks, ms)
		}
	}}
	rdb := tap.client(s.redis.Addr())
	t.Cleanup(func() { _ = rdb.Close() })
	s.coord.Assign("a", 0)
	sub := subscription("a")
	sub.PollTimeout = time.Hour
	var book ledger
	a := s.runOn(s.newClient(rdb), sub, book.acking)
	for n := range 4 { // each ends a read
		eventually(t, func() bool { return s.blocked() == 1 }, "it reads again")
		s.publish(0, n, n+1)
		eventually(t, func() bool { return book.count() == n+1 }, "and gets the record")
	}
	mu.Lock()
	defer mu.Unlock()
	require.GreaterOrEqual(t, len(blocks), 4)
	require.LessOrEqual(t, slices.Max(blocks), int(protocol.DefaultClientLease.Milliseconds()), "never beyond the lease")
	require.Positive(t, slices.Min(blocks), "0 would block for ever")
	require.Zero(t, a.Status().Counters.Lapses)
}

// Thirty blocked reads and an application pool of two connections.
func TestFieldF17BlockedReadsDoNotHoldBackAcknowledgements(t *testing.T) {
	t.Parallel()
	const shards = 30
	s := newStand(t, shards)
	small := redis.NewClient(&redis.Options{
		Addr: s.redis.Addr(), PoolSize: 2,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = small.Close() })
	s.coord.Assign("a", upTo(shards)...)
	var (
		book  ledger
		mu    sync.Mutex
		spent []time.Duration
	)
	sub := subscription("a")
	sub.PollTimeout = time.Hour // as long as the lease lets
	s.runOn(s.newClient(small), sub, func(ctx context.Context, m *client.Message) error {
		book.note(m)
		began := time.Now()
		err := m.Ack(ctx)
		mu.Lock()
		defer mu.Unlock()
		spent = append(spent, time.Since(began))
		return err
	})
	eventually(t, func() bool { return s.blocked() == shards }, "every shard is in a read of its own")
	for n := range 50 {
		s.publish(0, n, n+1)
		eventually(t, func() bool { return book.count() == n+1 }, "it is handled while the others block")
		eventually(t, func() bool { return s.blocked() >= shards-1 }, "which they still do")
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(spent)
	require.Less(t, spent[len(spent)/2], time.Second, "less than 1 ms; a read lasts 7 s")
	require.Less(t, spent[len(spent)-1], 5*time.Second, "no acknowledgement waits for a read to end")
}

func TestFieldF18AnyNumberOfRestartsIsSurvived(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1, redisproc.WithAOF("always"))
	s.coord.Assign("a", 0)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	for n := range 10 {
		s.redis.Restart()
		if n%3 == 0 {
			s.publish(0, n, n+1)
			eventually(t, func() bool { return book.times(n) > 0 }, "it reads again")
		}
	}
	s.publish(0, 10, 11)
	eventually(t, func() bool { return book.times(10) > 0 && s.pending(0) == 0 }, "after all of them too")
	require.Equal(t, []int{0}, a.owns())
	require.Zero(t, a.Status().Counters.Lapses)
	for _, request := range s.coord.Requests("a")[1:] {
		require.Positive(t, request.MemberEpoch, "the ownership was never lost")
	}
}

func TestFieldF19ClusterShardsOfOneMemberAreReadOneByOne(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	s := newStandOn(t, cluster.Client(t), 6)
	for shard := range 6 {
		s.publish(shard, 0, 20)
	}
	s.leavePending(5, "dead", 10)
	s.coord.Assign("a", upTo(6)...)
	var book ledger
	sub := subscription("a")
	sub.AckMode = client.AckAfterHandler
	a := s.run(sub, func(_ context.Context, m *client.Message) error {
		book.note(m)
		return nil
	})
	eventually(t, func() bool { return book.count() == 120 }, "every shard is read")
	for shard := range 6 {
		require.Equal(t, upTo(20), book.numbers(shard))
		eventually(t, func() bool { return s.pending(shard) == 0 && a.fault(shard) == "" }, "and acknowledged")
	}
}

// One member with one worker, shard 0 full, the others with one record, which they have in
// hand before the second one of shard 0 is handled.
func TestFieldF19LastShardDoesNotStarve(t *testing.T) {
	t.Parallel()
	s := newStand(t, 6)
	s.publish(0, 0, 150)
	s.coord.Assign("a", upTo(6)...)
	var book ledger
	others := make(chan struct{})
	s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		book.note(m)
		<-others
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Millisecond):
		}
		return m.Ack(ctx)
	})
	eventually(t, func() bool { return book.count() == 1 }, "shard 0 has the worker")
	for shard := 1; shard < 6; shard++ {
		s.publish(shard, 0, 1)
		eventually(t, func() bool { return s.pending(shard) == 1 }, "the others have a record in hand")
	}
	close(others)
	eventually(t, func() bool { return book.count() == 155 }, "all are handled")
	for at, one := range book.all() { // a batch is 100
		require.True(t, one.shard == 0 || at < 90, "shard %d waited for %d records", one.shard, at)
	}
}

// The application's client reads from replicas; the consumer uses primaries all the same.
func TestFieldF20ReplicasAreNotReadFrom(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	for node := range 3 {
		cluster.AddReplica(t, node)
	}
	rdb := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: cluster.Addrs(), ReadOnly: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	s := newStandOn(t, rdb, 4)
	for shard := range 4 {
		s.publish(shard, 0, 20)
		s.leavePending(shard, "dead", 10)
	}
	s.coord.Assign("a", upTo(4)...)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return book.count() == 80 }, "every shard is read")
	for shard := range 4 {
		require.Equal(t, upTo(20), book.numbers(shard))
		eventually(t, func() bool { return a.fault(shard) == "" }, "without trouble")
	}
}

// Redis answers for a while as servers do that cannot serve now.
func TestFieldF22ServerThatCannotServeNowIsWaitedOut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down",
		"CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys request during rehashing of slot",
		"OOM command not allowed when used memory > 'maxmemory'.", "BUSY Redis is busy running a script.",
		"READONLY You can't write against a read only replica.", "NOREPLICAS Not enough good replicas to write.",
	} {
		code, _, _ := strings.Cut(text, " ")
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 1)
			s.publish(0, 0, 3)
			s.leavePending(0, "dead", 1)
			var refusing atomic.Bool
			refusing.Store(true)
			tap := &wiretap{answer: func(command string) string {
				if refusing.Load() && strings.HasPrefix(command, "x") && !strings.HasPrefix(command, "xackdel") {
					return "-" + text + "\r\n"
				}
				return ""
			}}
			rdb := tap.client(s.redis.Addr())
			t.Cleanup(func() { _ = rdb.Close() })
			s.coord.Assign("a", 0)
			var book ledger
			a := s.runOn(s.newClient(rdb), subscription("a"), book.acking)
			eventually(t, func() bool { return a.fault(0) == code }, "Status says so")
			eventually(t, func() bool { return len(s.coord.Last("a").ShardProgress) == 1 }, "heartbeats go on")
			require.Empty(t, s.coord.Last("a").ShardProgress[0].Error, "it is not a missing stream or group")
			refusing.Store(false)
			eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 3 }, "then it reads")
			require.Equal(t, upTo(3), book.numbers(0))
			eventually(t, func() bool { return a.fault(0) == "" }, "Status says that it is over")
		})
	}
}

// The acknowledgement meets the outage: it is repeated, the record is not handled twice.
func TestAcknowledgementOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	for _, mode := range []client.AckMode{client.AckExplicit, client.AckAfterHandler} {
		s := newStand(t, 1)
		s.publish(0, 0, 10)
		var refused atomic.Int64
		tap := &wiretap{answer: func(command string) string {
			if strings.HasPrefix(command, "xack ") && refused.Add(1) <= 3 {
				return "-LOADING Redis is loading the dataset in memory\r\n"
			}
			return ""
		}}
		rdb := redis.NewClient(&redis.Options{Addr: s.redis.Addr(), Dialer: tap.dial, MaxRetries: -1})
		t.Cleanup(func() { _ = rdb.Close() })
		s.coord.Assign("a", 0)
		var book ledger
		sub := subscription("a")
		sub.AckMode = mode
		a := s.runOn(s.newClient(rdb), sub, func(ctx context.Context, m *client.Message) error {
			if book.note(m); mode == client.AckExplicit {
				return m.Ack(ctx)
			}
			return nil
		})
		eventually(t, func() bool { return book.count() == 10 && s.pending(0) == 0 }, "all are acknowledged")
		require.Equal(t, upTo(10), book.numbers(0))
		require.NoError(t, a.end())
		require.Zero(t, a.Status().Counters.AckFailed)
	}
}

// The cursor of the group is behind what was handled, as after a restart that lost a second.
func TestFieldF23TailIsHandledAgainWhenTheCursorWentBack(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 100)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return book.count() == 100 && s.pending(0) == 0 }, "all are handled")
	require.NoError(t, s.rdb.XGroupSetID(t.Context(), key(0), group, ids[49]).Err())
	s.publish(0, 100, 101)
	eventually(t, func() bool { return book.count() == 151 && s.pending(0) == 0 }, "the tail is handled again")
	require.Equal(t, upTo(101)[50:], book.numbers(0)[100:])
}

func TestFieldF23KilledServerComesBackAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1, redisproc.WithAOF("everysec"))
	s.publish(0, 0, 200)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return book.count() > 50 }, "it reads")
	s.redis.Restart()
	s.publish(0, 200, 201)
	eventually(t, func() bool { return book.times(200) > 0 && s.pending(0) == 0 }, "it goes on")
	for n := range 201 {
		require.Positive(t, book.times(n))
	}
}
