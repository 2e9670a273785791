package reshard_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// eventsOf returns the causes of a group's events, oldest first.
func (b *bench) eventsOf(name string) []protocol.GroupEvent {
	b.t.Helper()
	page, err := b.lead.catalog.Events(b.t.Context(), b.prefix, name, "", protocol.MaxEvents)
	require.NoError(b.t, err)
	return page.Events
}

func (b *bench) causes(name string, cause protocol.EventCause) int {
	n := 0
	for _, event := range b.eventsOf(name) {
		if event.Cause == cause {
			n++
		}
	}
	return n
}

// found waits until no shard is lost any more and the members read again.
func (b *bench) found() {
	b.t.Helper()
	b.await("the shards are there again", func() bool {
		if len(b.stream().Lost) > 0 {
			return false
		}
		for _, m := range b.crew {
			if len(m.missing) > 0 {
				return false
			}
		}
		return true
	})
	b.settled()
}

// cursor is where a Redis group of a shard stands.
func (b *bench) cursor(index int, name string) string {
	b.t.Helper()
	groups, err := b.rdb.XInfoGroups(b.t.Context(), b.key(index)).Result()
	require.NoError(b.t, err)
	for _, g := range groups {
		if g.Name == name {
			return g.LastDeliveredID
		}
	}
	return ""
}

// F13, L12: after a loss of shard keys the coordinator makes them again and reading goes
// on, with an event that says so.
func TestFieldF13LostShardKeysAreMadeAgainAndReadOn(t *testing.T) {
	t.Parallel()
	b := open(t, 4, "a", "b")
	second := b.start()
	for _, in := range []string{"a", "b"} {
		b.join(in, in+"-1")
		b.join(in, in+"-2").at = second
	}
	for index := range 4 {
		b.publish(index, 3)
	}
	b.await("handled", func() bool { n, _ := b.handledBy("a"); m, _ := b.handledBy("b"); return n == 12 && m == 12 })
	var marks, makes atomic.Int64
	for _, c := range []*coordinator{b.lead, second} {
		c.shards.fail(func(call string) error {
			switch call {
			case "Mark":
				marks.Add(1)
			case "Remake":
				makes.Add(1)
			}
			return nil
		}, nil)
	}
	b.do("DEL", b.key(0), b.key(1), b.key(3))
	b.await("the loss is noticed", func() bool { return b.causes("a", protocol.EventReprovision) > 0 })
	b.found()
	for index := range 4 {
		b.publish(index, 2)
	}
	b.await("handled", func() bool { n, _ := b.handledBy("a"); m, _ := b.handledBy("b"); return n == 20 && m == 20 })
	_, twice := b.handledBy("a")
	require.Zero(t, twice)
	require.EqualValues(t, 1, marks.Load(), "one provisioning for one loss, whoever hears of it")
	require.EqualValues(t, 3, makes.Load())
	for _, name := range []string{"a", "b"} {
		require.Equal(t, 2, b.causes(name, protocol.EventReprovision), "lost and found")
		require.Nil(t, b.group(name).Round)
		require.Zero(t, b.group(name).BarrierUntil)
	}
}

// F14, L12: a group that was destroyed goes on where its member had come to, if nothing
// was open.
func TestFieldF14DestroyedGroupGoesOnAtTheLowestAcknowledgedID(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a", "b")
	m := b.join("a", "a-1")
	b.join("b", "b-1")
	for i := range 1000 {
		b.do("XADD", b.key(0), fmt.Sprintf("%d-1", i+1), "f", "v")
	}
	b.await("handled", func() bool { n, _ := b.handledBy("a"); k, _ := b.handledBy("b"); return n == 1000 && k == 1000 })
	b.await("reported", func() bool { return m.acked[0] == "1000-1" })
	b.work()
	b.do("XGROUP", "DESTROY", b.key(0), "a")
	b.await("the loss is noticed", func() bool { return m.missing[0] == protocol.ShardErrorGroupMissing })
	b.found()
	require.Equal(t, "1000-1", b.cursor(0, "a"))
	b.publish(0, 1)
	b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 1001 })
	_, twice := b.handledBy("a")
	require.Zero(t, twice, "nothing is handled again")
	require.Zero(t, b.causes("b", protocol.EventExpire))
	n, _ := b.handledBy("b")
	require.Equal(t, 1001, n, "the other group has not noticed")
}

// L12: with records open, or nothing on record, the group starts anew.
func TestFieldF14DestroyedGroupWithRecordsOpenStartsAtTheBeginning(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a")
	m := b.join("a", "a-1")
	m.open = 1
	b.publish(0, 5)
	b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 5 })
	b.do("XGROUP", "DESTROY", b.key(0), "a")
	b.await("handled again", func() bool { _, twice := b.handledBy("a"); return twice == 5 })
	b.found()
}

// L12: what is added behind the loss of a key is read, whatever its ids: a new key may begin
// below the old one, as when the clock of another primary is behind.
func TestFieldF14RecordsAddedBehindTheLossAreRead(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"900-1", "500-3", "7-1"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			b := open(t, 1, "a")
			b.join("a", "a-1")
			b.do("XADD", b.key(0), "500-7", "f", "v")
			b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 1 })
			b.work()
			b.do("DEL", b.key(0))
			b.do("XADD", b.key(0), id, "f", "v")
			b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 2 })
			b.found()
			require.EqualValues(t, 1, b.rdb.XLen(t.Context(), b.key(0)).Val())
		})
	}
}

// L12: a key that was made again is empty: everything in it is new.
func TestL12LostKeyIsReadFromItsBeginning(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a")
	b.join("a", "a-1")
	b.do("XADD", b.key(0), "500-7", "f", "v")
	b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 1 })
	b.work()
	b.do("DEL", b.key(0))
	b.await("the loss is noticed", func() bool { return b.causes("a", protocol.EventReprovision) > 0 })
	b.found()
	require.Equal(t, "0-0", b.cursor(0, "a"))
	b.do("XADD", b.key(0), "400-1", "f", "v")
	b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 2 })
}

// L12: nothing is granted on a shard that is lost.
func TestL12NothingIsGrantedOnALostShard(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.join("a", "a-1")
	b.settled()
	b.lead.shards.fail(func(call string) error {
		if call == "Remake" {
			return errors.New("away")
		}
		return nil
	}, nil)
	b.do("DEL", b.key(0), b.key(1))
	b.await("the loss is noticed", func() bool { return slices.Equal(b.group("a").Lost, []int{0, 1}) })
	b.crew[0].mute = true
	late := b.join("a", "a-2")
	b.await("joined", func() bool { return late.epoch > 0 })
	_, err := b.lead.catalog.Fence(t.Context(), b.prefix, "a", "a-1", protocol.FenceRequest{RequestedBy: "ops", Reason: "t"})
	require.NoError(t, err)
	for range 20 {
		b.work()
	}
	require.Empty(t, late.owned)
	shown, err := b.lead.catalog.Group(t.Context(), b.prefix, "a")
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, shown.LostShards)
	b.await("a problem", func() bool { return len(b.lead.driver.Problems()) > 0 })
	b.lead.shards.fail(nil, nil)
	b.await("nothing is lost", func() bool { return len(b.stream().Lost) == 0 })
	require.EqualValues(t, 1, b.rdb.Exists(t.Context(), b.key(0)).Val())
	b.await("no problem", func() bool { return len(b.lead.driver.Problems()) == 0 })
}

// L12, M3: behind a barrier it is not known how far the members have come.
func TestL12NothingIsMadeAgainBehindABarrier(t *testing.T) {
	t.Parallel()
	b := lasting(t, 2, "a", "b")
	b.join("a", "a-1")
	b.join("b", "b-1")
	b.settled()
	b.barrier("b")
	var early atomic.Bool
	b.lead.shards.fail(func(call string) error {
		if g := b.group("b"); call == "Remake" && (g.BarrierUntil != 0 || g.Round != nil) {
			early.Store(true)
		}
		return nil
	}, nil)
	b.do("DEL", b.key(0))
	b.await("the loss is noticed", func() bool { return slices.Equal(b.stream().Lost, []int{0}) })
	require.NotZero(t, b.group("b").BarrierUntil)
	b.looksAgain()
	require.Zero(t, b.rdb.Exists(t.Context(), b.key(0)).Val())
	b.unbar("b")
	b.found()
	require.EqualValues(t, 1, b.rdb.Exists(t.Context(), b.key(0)).Val())
	require.False(t, early.Load())
}

// L12, L5: a removed shard may be lost as well; the resharding goes on.
func TestL12LostRemovedShardIsMadeAgainAndSealed(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a")
	m := b.join("a", "a-1")
	m.skips = []int{2}
	b.publish(2, 3)
	b.settled()
	id := b.scaled(1)
	b.keptFor(id, 2, protocol.DrainUnread)
	b.do("DEL", b.key(2))
	b.await("made again", func() bool { return b.causes("a", protocol.EventReprovision) >= 2 })
	m.skips = nil
	b.becomes(id, protocol.MigrationDeprecated)
	require.Equal(t, protocol.ProofLag, *b.drain(id, 2).Proof)
}

// L12, L5: a shard that is lost behind its proof is missed when it is to be sealed.
func TestL12ShardLostBehindItsProofIsMadeAgainAndSealed(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	m := b.join("a", "a-1")
	b.settled()
	m.keeps = []int{1}
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainStillOwned)
	b.do("DEL", b.key(1))
	m.keeps = nil
	b.becomes(id, protocol.MigrationDeprecated)
	require.Equal(t, "string", b.rdb.Type(t.Context(), b.key(1)).Val())
	require.NotZero(t, b.causes("a", protocol.EventReprovision))
}
