package e2e_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

const lostShards = 4

// Protocol L12, field cases F13, F14: shards or groups are gone while consumers run. They
// say so and wait, the coordinator makes them again, and reading goes on.
func TestFieldF13LostShardsAreMadeAgainWhileConsumersRun(t *testing.T) {
	t.Parallel()
	key := routing.StreamKey(stream, 1)
	deleteAll := func(d *drainage) error {
		keys := make([]string, lostShards)
		for index := range keys {
			keys[index] = routing.StreamKey(stream, index)
		}
		return d.rdb.Del(d.t.Context(), keys...).Err()
	}
	every := indexRange(0, lostShards)
	cases := map[string]damage{
		"key": {lost: []int{1}, fault: protocol.ShardErrorStreamMissing, do: func(d *drainage) error {
			return d.rdb.Del(d.t.Context(), key).Err()
		}},
		"group": {lost: []int{1}, fault: protocol.ShardErrorGroupMissing, do: func(d *drainage) error {
			return d.rdb.XGroupDestroy(d.t.Context(), key, group).Err()
		}},
		"all keys":                  {lost: every, fault: protocol.ShardErrorStreamMissing, do: deleteAll},
		"all keys behind a barrier": {lost: every, fault: protocol.ShardErrorStreamMissing, do: deleteAll, barrier: true},
	}
	for name, one := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := drainTiming()
			if one.barrier {
				settings = drainTiming(sceneTiming()...) // it is up for a lease
			}
			s := startSuite(t, settings...)
			d := &drainage{suite: s, rdb: s.connect()}
			d.create(stream, lostShards)
			l := &losing{drainage: d, damage: one}
			l.run()
		})
	}
}

// damage is what happens to shards.
type damage struct {
	lost    []int
	fault   string // that readers report
	barrier bool   // a barrier is up when it happens: nothing is made again before its end
	do      func(*drainage) error
}

// losing is a stream with two readers and a producer that loses shards.
type losing struct {
	*drainage
	damage

	a, b   *shardReader
	writer *writer
}

func (l *losing) run() {
	l.t.Helper()
	l.a, l.b = l.read("a"), l.read("b")
	l.stable(2)
	l.writer = l.write()
	every := indexRange(0, lostShards)
	l.eventually(func() bool { return l.handledOf(l.writer.accepted(), every) >= 50*lostShards }, "records are handled")
	if l.barrier {
		_, err := l.admin.Barrier(l.t.Context(), stream, group, protocol.BarrierRequest{RequestedBy: "e2e", Reason: "test"})
		require.NoError(l.t, err)
	}
	failures := l.failures()
	before := l.writer.accepted()
	damaged := time.Now()
	require.NoError(l.t, l.do(l.drainage))
	l.eventually(l.told, "readers tell what is missing")
	if l.barrier {
		l.eventually(func() bool { return slices.Equal(l.lost, l.lostShards()) }, "the group tells what is lost")
	}
	for _, index := range every {
		if !slices.Contains(l.lost, index) {
			require.Empty(l.t, l.a.fault(index)+l.b.fault(index), "shard %d is read", index)
		}
	}
	l.eventually(func() bool {
		count, _ := l.causes()
		return count[protocol.EventReprovision] > 0 && l.whole()
	}, "lost shards are made again")
	outage := time.Since(damaged)
	tried := l.failures() - failures

	after := l.writer.accepted()
	l.eventually(func() bool {
		accepted := l.writer.accepted()
		for _, index := range l.lost {
			if len(accepted[index]) < len(after[index])+30 || !l.all(index, accepted[index][len(after[index]):len(after[index])+30]) {
				return false
			}
		}
		return true
	}, "reading goes on")
	l.writer.stop()
	l.requireNothingLost(l.writer.accepted(), before)
	l.stable(2)
	require.Empty(l.t, l.lostShards())
	require.Contains(l.t, string(l.coordinator.all.bytes()), "others may be handled twice")
	for _, index := range every {
		if !slices.Contains(l.lost, index) {
			require.Zero(l.t, l.a.repeats(index)+l.b.repeats(index), "shard %d was not lost", index)
		}
	}
	repeats := l.a.repeats(1) + l.b.repeats(1) + l.twice(1)
	l.t.Logf("made again after %s, %d failing commands meanwhile; shard 1: %d of %d records handled twice",
		outage.Round(time.Millisecond), tried, repeats, len(l.writer.accepted()[1]))
	// The first attempts of all members may fall together; then there is one a second.
	require.LessOrEqual(l.t, tried, int(outage.Seconds()+2)*len(l.lost), "one attempt a second and shard")
}

// told tells whether readers have named what lost shards lack: behind a barrier what all of them
// do, else any, because the others may be there again before anybody misses them.
func (l *losing) told() bool {
	told := 0
	for _, index := range l.lost {
		if l.a.said(index, l.fault) || l.b.said(index, l.fault) {
			told++
		}
	}
	return told == len(l.lost) || !l.barrier && told > 0
}

// lostShards returns what the coordinator knows to be lost.
func (l *losing) lostShards() []int {
	l.t.Helper()
	view, err := l.admin.Group(l.t.Context(), stream, group)
	require.NoError(l.t, err)
	return view.LostShards
}

// whole tells whether every shard is there with its group.
func (l *losing) whole() bool {
	for index := range lostShards {
		groups, err := l.rdb.XInfoGroups(l.t.Context(), routing.StreamKey(stream, index)).Result()
		if err != nil || len(groups) != 1 {
			return false
		}
	}
	return true
}

// failures counts the commands that Redis refused because a group or its key is missing.
func (d *drainage) failures() int {
	d.t.Helper()
	stats, err := d.rdb.Info(d.t.Context(), "errorstats").Result()
	require.NoError(d.t, err)
	_, rest, found := strings.Cut(stats, "errorstat_NOGROUP:count=")
	if !found {
		return 0
	}
	text, _, _ := strings.Cut(rest, "\r")
	count, err := strconv.Atoi(text)
	require.NoError(d.t, err)
	return count
}

// all tells whether records were handled by any of the readers.
func (l *losing) all(index int, ids []string) bool {
	for _, id := range ids {
		if !l.a.did(index, id) && !l.b.did(index, id) {
			return false
		}
	}
	return true
}

// twice counts the records of a shard that both handled.
func (l *losing) twice(index int) int {
	count := 0
	for _, id := range l.writer.accepted()[index] {
		if l.a.did(index, id) && l.b.did(index, id) {
			count++
		}
	}
	return count
}

func (l *losing) handledOf(accepted map[int][]string, indexes []int) int {
	count := 0
	for _, index := range indexes {
		for _, id := range accepted[index] {
			if l.all(index, []string{id}) {
				count++
			}
		}
	}
	return count
}

// requireNothingLost waits until everything that Redis has is handled, and looks whether it
// has all that it accepted after the loss.
func (l *losing) requireNothingLost(accepted, before map[int][]string) {
	l.t.Helper()
	for index := range lostShards {
		entries, err := l.rdb.XRange(l.t.Context(), routing.StreamKey(stream, index), "-", "+").Result()
		require.NoError(l.t, err)
		there := map[string]bool{}
		for _, one := range entries {
			there[one.ID] = true
			l.eventually(func() bool { return l.all(index, []string{one.ID}) }, "entry "+one.ID+" is handled")
		}
		missing := 0
		for _, id := range accepted[index] {
			if !there[id] {
				missing++
			}
		}
		if slices.Contains(l.lost, index) && l.fault == protocol.ShardErrorStreamMissing {
			require.GreaterOrEqual(l.t, missing, len(before[index]), "the key was gone")
			continue
		}
		require.Zero(l.t, missing, "shard %d", index)
		require.True(l.t, l.all(index, accepted[index]), "shard %d", index)
	}
}
