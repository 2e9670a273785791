package loop_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var orders = store.Key{Stream: "orders", Group: "g"}

// machine is a store with a counted door, in a bubble whose time is the store's clock.
type machine struct {
	t      *testing.T
	kept   *memstore.Store
	door   *door
	nonces atomic.Int64
	skew   atomic.Int64 // milliseconds that the store's clock is ahead of the process's
}

// door counts what goes through and can be closed.
type door struct {
	store.Store
	loads, touches, commits atomic.Int64
	down                    atomic.Bool
	beforeWrite             func() // called once before the next write
	mu                      sync.Mutex
}

func (d *door) enter(counter *atomic.Int64) error {
	counter.Add(1)
	if d.down.Load() {
		return &store.UnavailableError{State: "UNREACHABLE", Cause: context.DeadlineExceeded}
	}
	return nil
}

func (d *door) interfere() {
	d.mu.Lock()
	f := d.beforeWrite
	d.beforeWrite = nil
	d.mu.Unlock()
	if f != nil {
		f()
	}
}

func (d *door) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	if err := d.enter(&d.loads); err != nil {
		return store.Snapshot{}, err
	}
	return d.Store.Load(ctx, key, known)
}

func (d *door) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	if err := d.enter(&d.touches); err != nil {
		return store.Touched{}, err
	}
	d.interfere()
	return d.Store.Touch(ctx, t)
}

func (d *door) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	if err := d.enter(&d.commits); err != nil {
		return store.Committed{}, err
	}
	d.interfere()
	return d.Store.Commit(ctx, c)
}

// bubble runs a test in synthetic time.
func bubble(t *testing.T, test func(t *testing.T, m *machine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{t: t}
		m.kept = memstore.New(func() store.Millis { return store.Millis(time.Now().UnixMilli() + m.skew.Load()) })
		m.door = &door{Store: m.kept}
		test(t, m)
	})
}

func (m *machine) nonce() string { return fmt.Sprintf("N%d", m.nonces.Add(1)) }

func (m *machine) create(key store.Key, shards int) {
	g := group.New(group.DefaultConfig(), group.Birth{
		StreamPrefix: key.Stream, ConsumerGroup: key.Group, ShardCount: shards, Lineage: m.nonce(), Identity: memstore.Identity,
	})
	aggregate, err := codec.EncodeGroup(g)
	require.NoError(m.t, err)
	_, err = m.kept.Create(m.t.Context(), store.Create{Key: key, Token: m.nonce(), Schema: codec.Schema, Aggregate: aggregate})
	require.NoError(m.t, err)
}

// coordinator starts a loop; its ticks run when ticking.
func (m *machine) coordinator(ticking bool) *loop.Loop {
	l := loop.New(loop.DefaultConfig(), m.door, m.nonce, slog.New(slog.DiscardHandler))
	if ticking {
		l.Start()
	}
	m.t.Cleanup(func() { require.NoError(m.t, l.Close(context.Background())) })
	return l
}

// member is a client that reports what it was last told.
type member struct {
	id, incarnation string
	sequence, epoch int64
	version         int64
	lineage         string
	owned           []protocol.ShardID
}

func (m *member) request() *protocol.HeartbeatRequest {
	m.sequence++
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: m.id + strconv.FormatInt(m.sequence, 10), MemberID: m.id,
		MemberEpoch: m.epoch, MetadataVersion: m.version, Incarnation: m.incarnation, Sequence: m.sequence, Lineage: m.lineage,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}
	if m.epoch > 0 {
		req.OwnedShards = m.owned
	}
	return req
}

func (m *member) beat(t *testing.T, l *loop.Loop) *protocol.HeartbeatResponse {
	t.Helper()
	answer, err := l.Heartbeat(t.Context(), "orders", "g", m.request())
	require.NoError(t, err)
	switch answer.Status {
	case protocol.StatusOK:
		m.owned = answer.Assignment.AssignedShards
		m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		m.epoch, m.version, m.lineage, m.owned = 0, 0, "", nil
	case protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		m.epoch, m.version, m.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
	}
	return answer
}

func shardsOf(answer *protocol.HeartbeatResponse) []int {
	list := []int{}
	for _, shard := range answer.Assignment.AssignedShards {
		list = append(list, shard.ShardIndex)
	}
	return list
}

func TestSteadyHeartbeatIsOneTouch(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 4)
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i1"}
		require.Equal(t, []int{0, 1, 2, 3}, shardsOf(a.beat(t, l)))
		a.beat(t, l)
		time.Sleep(100 * time.Millisecond) // out of step with the ticks
		loads, touches, commits := m.door.loads.Load(), m.door.touches.Load(), m.door.commits.Load()
		for range 50 {
			time.Sleep(time.Second)
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
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 64)
		l := m.coordinator(false)
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
		require.EqualValues(t, m.door.commits.Load()+1, view.Group.MetadataVersion, "one version a commit")
	})
}

func TestExpiryByTick(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 2)
		l := m.coordinator(true)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, l)
		b.beat(t, l)
		require.Empty(t, b.owned)
		deadline := time.Now().Add(30 * time.Second)
		for len(b.owned) < 2 {
			require.True(t, time.Now().Before(deadline), "b never got the shards of the silent a")
			time.Sleep(time.Second)
			b.beat(t, l)
		}
		require.InDelta(t, 12, 30-time.Until(deadline).Seconds(), 2.5, "one lease, a tick and a heartbeat later, not two leases (T1)")
	})
}

func TestTwoCoordinatorsTouchTheSameMember(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 2)
		c1, c2 := m.coordinator(true), m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, c1)
		for range 30 {
			for _, l := range []*loop.Loop{c1, c2} {
				time.Sleep(500 * time.Millisecond)
				require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
			}
		}
		require.EqualValues(t, 1, m.door.commits.Load(), "nobody is expired from a cache that is behind (T3)")
	})
}

// T05: a fence from a cache that does not know of a renewal elsewhere is decided again.
func TestT05FenceRelyingOnMovedLivenessIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, c1)
		b.beat(t, c1)
		time.Sleep(3 * time.Second)
		bad := *a
		bad.owned = []protocol.ShardID{{ShardIndex: 0}, {ShardIndex: 7}}
		bad.epoch = epochOf(t, c1, "a")
		// The bad report was sent first; a renewal of the same member gets in between
		// the decision and the commit, through the other coordinator.
		bad.sequence += 5
		m.door.mu.Lock()
		m.door.beforeWrite = func() { a.beat(t, c2) }
		m.door.mu.Unlock()
		answer := bad.beat(t, c1)
		require.Equal(t, protocol.StatusFencedMemberEpoch, answer.Status)
		view, err := c1.View(t.Context(), orders)
		require.NoError(t, err)
		hold := view.Group.Holds[0]
		require.Equal(t, "a", hold.Member)
		require.Equal(t, view.Live["a"].Deadline, hold.Lingers, "the hold lingers until the deadline of the renewal")
	})
}

func epochOf(t *testing.T, l *loop.Loop, id string) int64 {
	t.Helper()
	view, err := l.View(t.Context(), orders)
	require.NoError(t, err)
	found, ok := view.Group.Find(id)
	require.True(t, ok)
	return found.Epoch
}

// T07: after a rollback another commit has the same revision; the token tells them apart.
func TestT07CachedRevisionOfADeadHistoryIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		before := m.kept.Dump()
		b := &member{id: "b", incarnation: "i"}
		b.beat(t, c1)
		require.NotEmpty(t, b.owned)
		m.kept.Restore(before)
		x := &member{id: "x", incarnation: "i"}
		x.beat(t, c2)
		require.NotEmpty(t, x.owned)
		answer := b.beat(t, c1)
		require.Empty(t, shardsOf(answer), "no answer from the dead state")
		require.NotEqual(t, protocol.StatusOK, answer.Status)
	})
}

func TestClockJumpRaisesTheBarrierBeforeAnyExpiry(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
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
	bubble(t, func(t *testing.T, m *machine) {
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
	bubble(t, func(t *testing.T, m *machine) {
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

// F12: one undecodable record does not stop the others.
func TestFieldF12DamagedGroupFailsClosedAlone(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		others := []store.Key{{Stream: "orders", Group: "h"}, {Stream: "pays", Group: "g"}}
		m.create(orders, 1)
		m.createStream("orders", "g", "h")
		m.createStream("pays", "g")
		for _, key := range others {
			m.create(key, 1)
		}
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		m.damage(orders)
		require.Equal(t, protocol.StatusUnknownMemberID, a.beat(t, l).Status)
		for _, key := range others {
			answer, err := l.Heartbeat(t.Context(), key.Stream, key.Group, (&member{id: "z", incarnation: "i"}).request())
			require.NoError(t, err)
			require.Equal(t, protocol.StatusOK, answer.Status)
		}
		time.Sleep(2 * time.Minute) // two sweeps
		require.Len(t, l.Problems(), 1)
		require.Contains(t, l.Problems()[0], `stream "orders" group "g"`)
		require.Contains(t, l.Problems()[0], "aggregate")
		for _, key := range others {
			view, err := l.View(t.Context(), key)
			require.NoError(t, err)
			found, _ := view.Group.Find("z")
			require.Equal(t, group.Expired, found.State, "the tick went on for %s", key)
		}
	})
}

// M6: metadata that vanishes under a running group is a named problem, at once.
func TestVanishedGroupIsAProblemADeletedOneIsNot(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		m.createStream("orders", "g")
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		m.remove(orders)
		require.Equal(t, protocol.StatusUnknownMemberID, a.beat(t, l).Status)
		require.Len(t, l.Problems(), 1)
		require.Contains(t, l.Problems()[0], "metadata is gone")

		m.create(orders, 1)
		l.Forget(orders)
		require.Empty(t, l.Problems())
		a.beat(t, l)
		m.remove(store.Key{Stream: "orders"})
		time.Sleep(2 * time.Minute)
		require.Len(t, l.Problems(), 1)
		require.Contains(t, l.Problems()[0], "groups of the stream are there")
		m.remove(orders)
		time.Sleep(2 * time.Minute)
		require.Empty(t, l.Problems(), "nothing says that there should be anything")
	})
}

func (m *machine) createStream(prefix string, active ...string) {
	record := stream.Stream{Prefix: prefix, ShardCount: 1, MetadataVersion: 1, Lineage: "L"}
	for _, name := range active {
		record.Groups = append(record.Groups, stream.Group{Name: name, State: stream.Active})
	}
	aggregate, err := codec.EncodeStream(record)
	require.NoError(m.t, err)
	_, err = m.kept.Create(m.t.Context(), store.Create{Key: store.Key{Stream: prefix}, Token: m.nonce(), Schema: codec.Schema, Aggregate: aggregate})
	require.NoError(m.t, err)
}

func (m *machine) remove(key store.Key) {
	loaded, err := m.kept.Load(m.t.Context(), key, store.Version{})
	require.NoError(m.t, err)
	_, err = m.kept.Delete(m.t.Context(), key, loaded.Version)
	require.NoError(m.t, err)
}

// M6: a record that was copied under another group's key is not that group's.
func TestRecordOfAnotherGroupIsCorrupt(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		loaded, err := m.kept.Load(t.Context(), orders, store.Version{})
		require.NoError(t, err)
		copied := store.Key{Stream: "orders", Group: "copy"}
		_, err = m.kept.Create(t.Context(), store.Create{Key: copied, Token: m.nonce(), Schema: codec.Schema, Aggregate: loaded.Record.Aggregate})
		require.NoError(t, err)
		l := m.coordinator(false)
		_, err = l.View(t.Context(), copied)
		require.ErrorIs(t, err, store.ErrCorrupt)
		answer, err := l.Heartbeat(t.Context(), "orders", "copy", (&member{id: "a", incarnation: "i"}).request())
		require.NoError(t, err)
		require.Equal(t, protocol.StatusUnknownMemberID, answer.Status)
	})
}

// damage commits an aggregate that cannot be read.
func (m *machine) damage(key store.Key) {
	loaded, err := m.kept.Load(m.t.Context(), key, store.Version{})
	require.NoError(m.t, err)
	_, err = m.kept.Commit(m.t.Context(), store.Commit{
		Key: key, Prev: loaded.Version, Token: m.nonce(), Schema: codec.Schema, Aggregate: []byte(`{"streamPrefix":`),
	})
	require.NoError(m.t, err)
}

func TestUnservedGroupIsNotExpiredAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 2)
		first := loop.New(loop.DefaultConfig(), m.door, m.nonce, slog.New(slog.DiscardHandler))
		first.Start()
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, first)
		require.NoError(t, first.Close(t.Context()))
		time.Sleep(25 * time.Second) // no coordinator at all
		second := m.coordinator(true)
		time.Sleep(3 * time.Second)
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
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 2)
		l := m.coordinator(true)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, l)
		time.Sleep(9 * time.Second)
		m.door.down.Store(true)
		time.Sleep(14 * time.Second)
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
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		l := m.coordinator(true)
		entered, release := make(chan struct{}), make(chan struct{})
		m.door.beforeWrite = func() { close(entered); <-release }
		answered := make(chan *protocol.HeartbeatResponse, 1)
		go func() {
			answer, err := l.Heartbeat(context.Background(), "orders", "g", (&member{id: "a", incarnation: "i"}).request())
			require.NoError(t, err)
			answered <- answer
		}()
		<-entered
		closed := make(chan error, 1)
		go func() { closed <- l.Close(context.Background()) }()
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
	bubble(t, func(t *testing.T, m *machine) {
		m.create(orders, 1)
		l := m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		a.beat(t, l)
		events := m.kept.History(orders)
		require.Len(t, events, 1)
		require.Contains(t, string(events[0]), `"cause":"JOIN"`)
		require.Contains(t, string(events[0]), `"cause":"GRANT"`)
	})
}
