package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// F12: one undecodable record does not stop the others.
func TestFieldF12DamagedGroupFailsClosedAlone(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
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
		m.pass(2 * time.Minute) // two sweeps
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
	bubble(t, func(m *machine) {
		t := m.t
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
		l.Mended(orders)
		require.Empty(t, l.Problems())
		a.beat(t, l)
		m.remove(store.Key{Stream: "orders"})
		m.pass(2 * time.Minute)
		require.Len(t, l.Problems(), 1)
		require.Contains(t, l.Problems()[0], "groups of the stream are there")
		m.remove(orders)
		m.pass(2 * time.Minute)
		require.Empty(t, l.Problems(), "nothing says that there should be anything")
	})
}

func (m *machine) createStream(prefix string, active ...string) {
	record := stream.Stream{Prefix: prefix, ShardCount: 1, MetadataVersion: 1, Lineage: "L"}
	for _, name := range active {
		record.Groups = append(record.Groups, stream.Group{Name: name, State: stream.Active})
	}
	aggregate, err := codec.EncodeStream(codec.Schema, record)
	require.NoError(m.t, err)
	_, err = m.kept.Create(m.t.Context(), store.Create{Key: store.Key{Stream: prefix}, Token: m.nonce(), Schema: codec.Schema, Aggregate: aggregate})
	require.NoError(m.t, err)
}

func (m *machine) remove(key store.Key) {
	loaded, err := m.kept.Load(m.t.Context(), key, store.Version{})
	require.NoError(m.t, err)
	_, err = m.kept.Delete(m.t.Context(), key, loaded.Version, nil)
	require.NoError(m.t, err)
}

// M6: a record that was copied under another group's key is not that group's.
func TestRecordOfAnotherGroupIsCorrupt(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
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

// M1: what a coordinator saw itself is evidence, without any member that knows of it.
func TestRollbackIsNoticedFromMemory(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		before := m.kept.Dump()
		(&member{id: "a", incarnation: "i"}).beat(t, c1)
		(&member{id: "b", incarnation: "i"}).beat(t, c1)
		require.Equal(t, protocol.StatusOK, (&member{id: "c", incarnation: "i"}).beat(t, c2).Status)
		m.kept.Restore(before)

		fresh := &member{id: "x", incarnation: "i"}
		require.Equal(t, protocol.StatusSyncMetadata, fresh.beat(t, c1).Status, "a is forgotten and may be reading")
		view, err := c1.View(t.Context(), orders)
		require.NoError(t, err)
		lineage := view.Group.Lineage
		(&member{id: "y", incarnation: "i"}).beat(t, c2)
		(&member{id: "z", incarnation: "i"}).beat(t, c1)
		view, err = c1.View(t.Context(), orders)
		require.NoError(t, err)
		require.Equal(t, lineage, view.Group.Lineage, "T14: the other coordinator's memory is of a history that is known now")
	})
}

func TestDeletedGroupLeavesNoEvidence(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		l := m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		m.remove(orders)
		l.Deleted(orders)
		m.create(orders, 1)
		require.Equal(t, protocol.StatusOK, (&member{id: "b", incarnation: "i"}).beat(t, l).Status)
	})
}

// T14: a group whose key was lost and that was made again under its name.
func TestLostAndRecreatedGroupRaisesTheBarrierOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, c1)
		a.beat(t, c2)
		m.remove(orders)
		require.Equal(t, protocol.StatusUnknownMemberID, a.beat(t, c1).Status)
		m.create(orders, 1)
		require.Equal(t, protocol.StatusSyncMetadata, (&member{id: "x", incarnation: "i"}).beat(t, c1).Status)
		view, err := c1.View(t.Context(), orders)
		require.NoError(t, err)
		until := view.Group.BarrierUntil
		m.pass(3 * time.Second)
		for _, l := range []*loop.Loop{c1, c2, c1} {
			(&member{id: "y", incarnation: "i"}).beat(t, l)
		}
		view, err = c1.View(t.Context(), orders)
		require.NoError(t, err)
		require.Equal(t, until, view.Group.BarrierUntil, "the barrier is not extended again and again")
	})
}

// M6: a record that was damaged without a new version does not go on living in the cache
// of a coordinator that knows the version.
func TestDamageUnderTheSameVersionIsFoundByTheSweep(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		m.createStream("orders", "g")
		l := m.coordinator(true)
		a := &member{id: "a", incarnation: "i"}
		a.beat(t, l)
		m.door.garble.Store(true)
		for range 61 {
			m.pass(time.Second)
			a.beat(t, l)
		}
		require.Len(t, l.Problems(), 1)
		require.Equal(t, protocol.StatusUnknownMemberID, a.beat(t, l).Status)
		m.door.garble.Store(false)
		require.NotEqual(t, protocol.StatusUnknownMemberID, a.beat(t, l).Status)
		require.Empty(t, l.Problems())
	})
}
