package loop_test

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteadyHeartbeatIsOneTouch(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 4)
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i1"}
		require.Equal(t, []int{0, 1, 2, 3}, shardsOf(a.beat(t, l)))
		a.beat(t, l)
		m.pass(100 * time.Millisecond) // out of step with the ticks
		loads, touches, commits := m.door.loads.Load(), m.door.touches.Load(), m.door.commits.Load()
		for range 50 {
			m.pass(time.Second)
			answer := a.beat(t, l)
			require.Equal(t, protocol.StatusOK, answer.Status)
			require.EqualValues(t, 8000, answer.LeaseMs)
		}
		require.EqualValues(t, 50, m.door.touches.Load()-touches, "the heartbeats tell that the group is served, ticks need not")
		require.Zero(t, m.door.loads.Load()-loads, "nothing is loaded on the steady path")
		require.Zero(t, m.door.commits.Load()-commits)
	})
}

func TestMembersJoiningAtOnceShareCommits(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 64)
		l := m.coordinator(false)
		m.door.beforeWrite = synctest.Wait // the first commit takes until all others have asked
		var wait sync.WaitGroup
		for i := range 64 {
			wait.Go(func() {
				who := &member{id: fmt.Sprintf("m%02d", i), incarnation: "i"}
				require.Equal(t, protocol.StatusOK, who.beat(t, l).Status)
			})
		}
		wait.Wait()
		require.Less(t, m.door.commits.Load(), int64(64), "a busy worker makes bigger batches")
		view, err := l.View(t.Context(), orders)
		require.NoError(t, err)
		require.Len(t, view.Group.Members, 64)
		require.Equal(t, m.door.commits.Load()+1, view.Group.MetadataVersion, "one version a commit")
	})
}

func TestExpiryByTick(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		l := m.coordinator(true)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, l)
		b.beat(t, l)
		require.Empty(t, b.owned)
		deadline := time.Now().Add(30 * time.Second)
		for len(b.owned) < 2 {
			require.True(t, time.Now().Before(deadline), "b never got the shards of the silent a")
			m.pass(time.Second)
			b.beat(t, l)
		}
		require.InDelta(t, 12, 30-time.Until(deadline).Seconds(), 2.5, "one lease, a tick and a heartbeat later, not two leases (T1)")
	})
}

func TestTwoCoordinatorsTouchTheSameMember(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		c1, c2 := m.coordinator(true), m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, c1)
		for range 30 {
			for _, l := range []*loop.Loop{c1, c2} {
				m.pass(500 * time.Millisecond)
				require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
			}
		}
		require.EqualValues(t, 1, m.door.commits.Load(), "nobody is expired from a cache that is behind (T3)")
	})
}

func TestClockJumpRaisesTheBarrierBeforeAnyExpiry(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		l := m.coordinator(true)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, l)
		m.skew.Store((15 * time.Second).Milliseconds())
		require.Equal(t, protocol.StatusSyncMetadata, b.beat(t, l).Status)
		view, err := l.View(t.Context(), orders)
		require.NoError(t, err)
		require.NotZero(t, view.Group.BarrierUntil, "T1: a jump of the store's clock is evidence")
		found, _ := view.Group.Find("a")
		require.Equal(t, group.Active, found.State, "nobody expires by it")
	})
}

func TestStoreAwayAnswers503AndNothingFromMemory(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		m.door.down.Store(true)
		_, err := l.Heartbeat(t.Context(), "orders", "g", a.request())
		var fault *protocol.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, protocol.CodeStoreUnavailable, fault.Code)
		require.True(t, fault.Retriable())
		m.door.down.Store(false)
		require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
	})
}

func TestUnknownGroupIsNeverRebuiltFromHeartbeats(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i", epoch: 7, version: 9}
		answer := a.beat(t, l)
		require.Equal(t, protocol.StatusUnknownMemberID, answer.Status)
		require.Equal(t, protocol.ReasonUnknownGroup, answer.Reason)
		require.Positive(t, answer.HeartbeatIntervalMs)
		_, err := l.View(t.Context(), orders)
		require.ErrorIs(t, err, store.ErrNotFound)
	})
}

func TestUnservedGroupIsNotExpiredAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		first := loop.New(loop.DefaultConfig(), m.door, m.nonce, slog.New(slog.DiscardHandler))
		first.Start()
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, first)
		require.NoError(t, first.Close(t.Context()))
		m.pass(25 * time.Second) // no coordinator at all
		second := m.coordinator(true)
		m.pass(3 * time.Second)
		a.epoch, a.owned = 0, nil // its client lease has lapsed (H5)
		answer := a.beat(t, second)
		require.Equal(t, protocol.StatusOK, answer.Status)
		require.Equal(t, []int{0, 1}, shardsOf(answer), "T1: its shards waited for it")
	})
}

// T1: a coordinator that was cut off and comes back with its cache must not make the group
// look served, or the next decision expires everybody who could not report.
func TestCacheOfACutOffCoordinatorDoesNotHideThatNobodyServed(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		l := m.coordinator(true)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, l)
		m.pass(9 * time.Second)
		m.door.down.Store(true)
		m.pass(14 * time.Second)
		m.door.down.Store(false)
		a.epoch, a.owned = 0, nil
		require.Equal(t, []int{0, 1}, shardsOf(a.beat(t, l)))
		require.Equal(t, protocol.StatusOK, b.beat(t, l).Status)
		require.NotEqual(t, group.Expired, stateOf(t, l, "a"))
	})
}

func stateOf(t *testing.T, l *loop.Loop, id string) group.MemberState {
	t.Helper()
	view, err := l.View(t.Context(), orders)
	require.NoError(t, err)
	found, _ := view.Group.Find(id)
	return found.State
}

func TestCloseFinishesEnteredWorkAndRefusesNew(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		l := m.coordinator(true)
		entered, release := make(chan struct{}), make(chan struct{})
		m.door.beforeWrite = func() { close(entered); <-release }
		answered := make(chan *protocol.HeartbeatResponse, 1)
		go func() {
			answer, err := l.Heartbeat(t.Context(), "orders", "g", (&member{id: "a", incarnation: "i"}).request())
			assert.NoError(t, err)
			answered <- answer
		}()
		<-entered
		closed := make(chan error, 1)
		go func() { closed <- l.Close(t.Context()) }()
		synctest.Wait()
		_, err := l.Heartbeat(t.Context(), "orders", "g", (&member{id: "b", incarnation: "i"}).request())
		var fault *protocol.Error
		require.ErrorAs(t, err, &fault)
		require.Equal(t, protocol.CodeTerminating, fault.Code)
		close(release)
		require.Equal(t, protocol.StatusOK, (<-answered).Status)
		require.NoError(t, <-closed)
	})
}

func TestHistoryHasOneEventACommit(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		l := m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		a.beat(t, l)
		events, err := m.kept.History(t.Context(), orders, "", 10)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Contains(t, string(events[0].Data), `"cause":"JOIN"`)
		require.Contains(t, string(events[0].Data), `"cause":"GRANT"`)
	})
}
