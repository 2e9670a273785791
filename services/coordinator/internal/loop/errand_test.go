package loop_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// scaled is a layout with so many shards.
func scaled(version int64, shards int) group.Layout {
	return group.Layout{Version: version, ShardCount: shards, ReadCount: shards, Cause: group.CauseScale, RequestID: "s1"}
}

func ops() recorder.Order {
	return recorder.Order{Action: protocol.ActionScale, Actor: "ops", Reason: "load", RequestID: "s1"}
}

func (m *machine) adopt(l *loop.Loop, layout group.Layout) *group.Group {
	m.t.Helper()
	g, err := l.Adopt(m.t.Context(), orders, layout, ops())
	require.NoError(m.t, err)
	return g
}

// events returns the history of the group.
func (m *machine) events() []protocol.GroupEvent {
	m.t.Helper()
	found, err := m.kept.History(m.t.Context(), orders, "", 100)
	require.NoError(m.t, err)
	events := make([]protocol.GroupEvent, len(found))
	for i, e := range found {
		events[i] = recorder.Decode(e.Data, e.ID, int64(e.At))
	}
	return events
}

func TestL1GroupCopiesALayoutOnceAndSaysWhoAskedForIt(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		l := m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		require.Equal(t, []int{0, 1}, shardsOf(a.beat(m.t, l)))
		g := m.adopt(l, scaled(3, 4))
		require.Equal(t, []any{int64(3), 4}, []any{g.LayoutVersion, g.ShardCount})
		require.Len(t, g.Holds, 4)
		require.Equal(t, []int{0, 1, 2, 3}, shardsOf(a.beat(m.t, l)))
		events := m.events()
		last := events[len(events)-1]
		require.Equal(t, protocol.EventScale, last.Cause)
		require.Equal(t, []any{protocol.ActionScale, "ops", "load", "s1"}, []any{*last.Action, *last.Actor, *last.Reason, *last.RequestID})

		commits := m.door.commits.Load()
		require.Same(t, m.adopt(l, scaled(3, 4)), m.adopt(l, scaled(2, 9)), "it has that one, or a newer one")
		require.Equal(t, commits, m.door.commits.Load())
		require.Len(t, m.events(), len(events))
	})
}

// L1: the group of the answer is the stored one, whatever another coordinator did.
func TestL1LayoutIsCopiedOnTopOfWhatAnotherCoordinatorStored(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		first, second := m.coordinator(false), m.coordinator(false)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(m.t, first)
		m.door.mu.Lock()
		m.door.beforeWrite = func() { b.beat(m.t, second) }
		m.door.mu.Unlock()
		g := m.adopt(first, scaled(1, 4))
		require.Len(t, g.Members, 2, "the one that joined between load and commit")
		require.Equal(t, 4, g.ShardCount)
		stored := m.adopt(second, scaled(1, 4))
		require.Equal(t, g, stored)
	})
}

// A step of the core takes one errand: all that are queued get their turn, with the
// heartbeats between them.
func TestManyErrandsAtOnceAreAllCarriedOut(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		l := m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		a.beat(m.t, l)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				g, err := l.Adopt(m.t.Context(), orders, scaled(int64(i+1), 3+i), ops())
				if err != nil || g.LayoutVersion < int64(i+1) {
					t.Errorf("layout %d: %v %v", i+1, g, err)
				}
			})
			all.Go(func() {
				_, err := l.Order(m.t.Context(), orders, group.Order{Kind: group.OrderFence, Member: "nobody"}, recorder.Order{})
				if err == nil {
					t.Error("nobody cannot be fenced")
				}
			})
			beat := &member{id: "a" + string(rune('a'+i)), incarnation: "i"}
			all.Go(func() { beat.beat(m.t, l) })
		}
		all.Wait()
		g := m.adopt(l, scaled(1, 1))
		require.Equal(t, []any{int64(8), 10}, []any{g.LayoutVersion, g.ShardCount})
		require.Len(t, g.Members, 9)
	})
}

func TestOrderThatIsRefusedChangesAndRecordsNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		l := m.coordinator(false)
		commits := m.door.commits.Load()
		_, err := l.Order(m.t.Context(), orders, group.Order{Kind: group.OrderUnbar}, ops())
		require.ErrorIs(t, err, group.ErrNoBarrier)
		_, err = l.Order(m.t.Context(), orders, group.Order{Kind: group.OrderFence, Member: "a"}, ops())
		require.ErrorIs(t, err, group.ErrNotLive)
		require.Equal(t, commits, m.door.commits.Load())
	})
}

// M3: the barrier of an operator stops grants like any other.
func TestM3OrderedBarrierStopsGrantsUntilItsTime(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(m.t, l)
		g, err := l.Order(m.t.Context(), orders, group.Order{Kind: group.OrderBarrier}, ops())
		require.NoError(t, err)
		require.NotZero(t, g.BarrierUntil)
		b := &member{id: "b", incarnation: "i"}
		for range 9 {
			answer := a.beat(m.t, l)
			require.NotEqual(t, protocol.StatusOK, answer.Status)
			a.owned = answer.Assignment.AssignedShards // A3: what it still finds there
			require.Empty(t, shardsOf(b.beat(m.t, l)))
			m.pass(time.Second)
		}
		for range 4 {
			m.pass(time.Second)
			a.beat(m.t, l)
			b.beat(m.t, l)
		}
		require.Equal(t, protocol.StatusOK, a.beat(m.t, l).Status)
		require.Len(t, b.owned, 1)
	})
}

func TestErrandsOfNoGroupOfAStoreThatIsAwayAndAfterCloseFail(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		l := m.coordinator(false)
		_, err := l.Adopt(m.t.Context(), orders, scaled(1, 3), ops())
		require.ErrorIs(t, err, store.ErrNotFound)
		m.create(orders, 2)
		m.door.down.Store(true)
		_, err = l.Adopt(m.t.Context(), orders, scaled(1, 3), ops())
		require.ErrorIs(t, err, store.ErrUnavailable)
		m.door.down.Store(false)
		m.adopt(l, scaled(1, 3))

		gone, leave := context.WithCancel(m.t.Context())
		leave()
		if _, err = l.Adopt(gone, orders, scaled(2, 4), ops()); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, l.Close(m.t.Context()))
		_, err = l.Adopt(m.t.Context(), orders, scaled(3, 5), ops())
		var fault *protocol.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, protocol.CodeTerminating, fault.Code)
	})
}

// L12, M1: reports of missing shards and evidence of lost writes reach who looks after the
// stream.
func TestNeedsOfAStreamAreTold(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		m.create(orders, 2)
		l := m.coordinator(false)
		var told []loop.Need
		l.Attend(func(stream string, why loop.Need) {
			require.Equal(t, "orders", stream)
			told = append(told, why)
		})
		a := &member{id: "a", incarnation: "i"}
		a.beat(m.t, l)
		a.beat(m.t, l)
		synctest.Wait() // the answer comes first
		require.Empty(t, told)
		req := a.request()
		req.ShardProgress = []protocol.ShardProgress{{Shard: a.owned[0]}, {Shard: a.owned[1], Error: protocol.ShardErrorGroupMissing}}
		_, err := l.Heartbeat(m.t.Context(), "orders", "g", req)
		require.NoError(t, err)
		synctest.Wait()
		require.Equal(t, []loop.Need{loop.ShardMissing}, told)
		a.version += 5 // of a history that the store has lost
		a.beat(m.t, l)
		synctest.Wait()
		require.Equal(t, []loop.Need{loop.ShardMissing, loop.Corrected}, told)
	})
}

func TestL1GroupFollowsARecordWithTheSameLayoutOnly(t *testing.T) {
	t.Parallel()
	record := stream.Stream{ShardCount: 2, Removed: 2, LayoutVersion: 7, LayoutCause: stream.CauseSeal, Lost: []int{2}}
	record.Resharding = &stream.Resharding{Shards: []stream.Removed{
		{Index: 2, Step: stream.StepReading}, {Index: 3, Step: stream.StepClosing},
	}}
	follower := func() *group.Group {
		return group.New(group.DefaultConfig(), group.Birth{Layout: loop.LayoutOf(record)})
	}
	require.Equal(t, []int{3}, loop.LayoutOf(record).Closed)
	require.True(t, loop.Follows(follower(), record))
	for name, change := range map[string]func(g *group.Group){
		"version": func(g *group.Group) { g.LayoutVersion++ },
		"routing": func(g *group.Group) { g.ShardCount, g.Removed = 1, 3 },
		"reading": func(g *group.Group) { g.Removed++ },
		"closed":  func(g *group.Group) { g.Closed = nil },
		"lost":    func(g *group.Group) { g.Lost = []int{0} },
	} {
		g := follower()
		change(g)
		require.False(t, loop.Follows(g, record), name)
	}
}
