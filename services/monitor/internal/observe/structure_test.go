package observe_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// told is what an observer has published, in its order: a round, or groups between rounds.
type told struct {
	round  int64 // 0 between rounds
	at     time.Time
	groups []facts.Group
}

// listening runs an observer of groups without shards, so that Redis is not asked, in a bubble of
// its own time. It returns how to read what is told.
func listening(t *testing.T, c *coordinator) (look func() []told) {
	t.Helper()
	var mu sync.Mutex
	var all []told
	tell := func(number int64, groups []facts.Group) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, told{number, clock.Now(), groups})
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := observe.New(observe.Config{Interval: time.Minute}, observe.Deps{
		Groups:  c,
		Publish: func(r facts.Round) { tell(r.Number, r.Groups) }, Restructure: func(groups []facts.Group) { tell(0, groups) },
	})
	var working sync.WaitGroup
	working.Go(func() { o.Run(ctx) })
	t.Cleanup(func() { cancel(); working.Wait() })
	return func() []told {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return append([]told(nil), all...)
	}
}

// pass lets the bubble's time pass.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.Sleep(t.Context(), d))
	synctest.Wait()
}

// joined is a group without shards that has members.
func joined(members ...protocol.MemberMetadata) protocol.GroupSnapshot {
	g := group("orders", "a", 0)
	g.Members = members
	return g
}

func live(id string, beat int) protocol.MemberMetadata {
	at := protocol.Timestamp{Time: time.Unix(int64(beat), 0)}
	return protocol.MemberMetadata{
		MemberID: id, State: protocol.MemberActive, LastHeartbeatAt: at, MemberLeaseExpiresAt: at, ActiveConsumerWorkers: beat,
		ShardProgress: []protocol.ShardProgress{{PendingCount: int64(beat), UpdatedAt: &at}},
	}
}

// Monitoring, Observe: what becomes of groups between rounds is told within a second, and only
// where it is news.
func TestWhatBecomesOfGroupsIsToldBetweenRounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{groups: []protocol.GroupSnapshot{joined(live("one", 1), live("two", 1))}}
		look := listening(t, c)
		require.Len(t, look(), 1)

		c.set(func() { c.groups = []protocol.GroupSnapshot{joined(live("one", 2), live("two", 2))} })
		pass(t, 3*time.Second)
		require.Len(t, look(), 1, "that members go on is no news")

		begun := clock.Now()
		c.set(func() { c.groups = []protocol.GroupSnapshot{joined(live("one", 3))} })
		pass(t, time.Second)
		all := look()
		require.Len(t, all, 2)
		require.Zero(t, all[1].round)
		require.Len(t, all[1].groups[0].Members, 1)
		require.LessOrEqual(t, all[1].at.Sub(begun), time.Second)
		pass(t, 10*time.Second)
		require.Len(t, look(), 2, "it is told once")

		c.set(func() { c.groups = append(c.groups, group("orders", "new", 0)) })
		pass(t, 5*time.Second)
		require.Len(t, look(), 2, "a new group comes with the round that looks at its shards")
		c.set(func() { c.groups = []protocol.GroupSnapshot{group("orders", "new", 0)} })
		pass(t, time.Second)
		all = look()
		require.Len(t, all, 3)
		require.Empty(t, all[2].groups, "one that is gone is gone")
		pass(t, time.Minute)
		all = look()
		require.EqualValues(t, 2, all[3].round)
		require.Equal(t, "new", all[3].groups[0].View.ConsumerGroup)
	})
}

// A coordinator that was away and answers again is news; that it is away, the next round says.
func TestACoordinatorThatAnswersAgainIsToldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{err: errors.New("connection refused")}
		look := listening(t, c)
		pass(t, 10*time.Second)
		require.Len(t, look(), 1)
		c.set(func() { c.err = nil })
		pass(t, time.Second)
		require.Len(t, look(), 2)
		pass(t, 5*time.Second)
		require.Len(t, look(), 2, "once")
		c.set(func() { c.err = errors.New("connection refused") })
		pass(t, 5*time.Second)
		require.Len(t, look(), 2)
	})
}

// slow is a coordinator that takes its time.
type slow struct {
	*coordinator

	takes time.Duration
}

func (s slow) GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error) {
	if err := clock.Sleep(ctx, s.takes); err != nil {
		return nil, "", err
	}
	return s.coordinator.GroupSnapshots(ctx, etag)
}

// A coordinator that has much to tell is not kept busy by the question.
func TestACoordinatorThatTakesLongIsAskedLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{}
		ctx, cancel := context.WithCancel(t.Context())
		o := observe.New(observe.Config{Interval: time.Minute}, observe.Deps{Groups: slow{c, 400 * time.Millisecond}})
		var working sync.WaitGroup
		working.Go(func() { o.Run(ctx) })
		pass(t, 45*time.Second)
		c.set(func() { require.InDelta(t, 11, len(c.asked), 2, "a tenth of the time at most") })
		cancel()
		working.Wait()
	})
}

// monitoring, Observe: Redis is asked in rounds only.
func TestRedisIsAskedNothingBetweenRounds(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	c := &coordinator{groups: []protocol.GroupSnapshot{group("orders", "a", 3)}}
	ctx, cancel := context.WithCancel(t.Context())
	sent := watch(rdb)
	rounds, news := make(chan facts.Round, 1), make(chan []facts.Group)
	o := observe.New(observe.Config{Interval: time.Hour, StructureInterval: time.Millisecond}, observe.Deps{
		Redis: rdb, Groups: c, Publish: func(r facts.Round) { rounds <- r },
		Restructure: func(groups []facts.Group) {
			select {
			case news <- groups:
			case <-ctx.Done():
			}
		},
	})
	var working sync.WaitGroup
	working.Go(func() { o.Run(ctx) })
	t.Cleanup(func() { cancel(); working.Wait() })
	<-rounds
	_, commands, _ := sent.taken()
	require.NotEmpty(t, commands)
	for epoch := range int64(20) {
		changed := group("orders", "a", 3)
		changed.Group.GroupEpoch = epoch + 1
		c.set(func() { c.groups = []protocol.GroupSnapshot{changed} })
		require.Equal(t, epoch+1, (<-news)[0].View.GroupEpoch)
	}
	_, commands, _ = sent.taken()
	require.Empty(t, commands)
}
