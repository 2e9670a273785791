package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// drainLease is the routing lease of the drains, the shortest that a coordinator takes.
const drainLease = 5 * time.Second

// drainTiming returns the settings of a coordinator that takes reshardings further often,
// and whose coordination lease ends soon after it is killed. Members may be silent for long:
// nobody is held up for that time by chance. Settings that follow win.
func drainTiming(settings ...string) []string {
	return slices.Concat(sceneTiming(), []string{
		"--coordination-member-lease-ttl", "20s", "--coordination-client-lease", "16s", "--coordination-rebalance-timeout", "60s",
		"--coordination-routing-lease", drainLease.String(), "--coordination-event-loop-interval", "100ms",
		"--coordination-event-loop-reshard-interval", "100ms", "--coordination-event-loop-reshard-scan", "1s",
		"--coordination-state-mutex-ttl-ms", "3000",
	}, settings)
}

// drainage is a stream whose shard count is changed.
type drainage struct {
	*suite
	rdb redis.UniversalClient
}

// startDrainage starts a coordinator, and creates the stream.
func startDrainage(t *testing.T, count int) *drainage {
	t.Helper()
	s := startSuite(t, drainTiming()...)
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, count)
	return d
}

// create creates a stream with the groups, by default with the one of the suite.
func (d *drainage) create(prefix string, count int, groups ...string) {
	d.t.Helper()
	if len(groups) == 0 {
		groups = []string{group}
	}
	_, err := d.admin.CreateStream(d.t.Context(), prefix, protocol.CreateStreamRequest{
		InitialShardCount: &count, ConsumerGroups: groups, RequestedBy: "e2e",
	})
	require.NoError(d.t, err)
}

// scale begins a resharding and returns its id.
func (d *drainage) scale(to int) string {
	d.t.Helper()
	answer, err := d.admin.Scale(d.t.Context(), stream, protocol.ScaleRequest{TargetShardCount: &to, RequestedBy: "e2e", Reason: "test"})
	require.NoError(d.t, err)
	require.Len(d.t, answer.Migrations, 1)
	return answer.Migrations[0].ReshardingID
}

func (d *drainage) rollBack(id string) {
	d.t.Helper()
	_, err := d.admin.Rollback(d.t.Context(), stream, d.anyGroup(), id, protocol.RollbackRequest{RequestedBy: "e2e", Reason: "test"})
	require.NoError(d.t, err)
}

// confirm vouches for a shard.
func (d *drainage) confirm(id string, index int) error {
	_, err := d.admin.ConfirmDrain(d.t.Context(), stream, d.anyGroup(), id, protocol.ConfirmDrainRequest{
		ShardIndex: &index, RequestedBy: "e2e", Reason: "looked at it",
	})
	return err
}

// anyGroup returns a group of the stream, under which its reshardings are asked for.
func (d *drainage) anyGroup() string {
	d.t.Helper()
	found, err := d.admin.Stream(d.t.Context(), stream)
	require.NoError(d.t, err)
	require.NotEmpty(d.t, found.ConsumerGroups)
	return found.ConsumerGroups[0]
}

// looked is a resharding at one moment.
type looked struct {
	protocol.Migration
}

func (d *drainage) look(id string) looked {
	d.t.Helper()
	seen, err := d.admin.Migration(d.t.Context(), stream, d.anyGroup(), id)
	require.NoError(d.t, err)
	require.NotNil(d.t, seen.Progress)
	return looked{*seen}
}

// drains returns the removed shards by index.
func (l looked) drains() map[int]protocol.ShardDrain {
	drains := make(map[int]protocol.ShardDrain, len(l.Progress.Shards))
	for _, one := range l.Progress.Shards {
		drains[one.ShardIndex] = one
	}
	return drains
}

// kept tells of each removed shard what keeps it: the reason, the phase where there is none.
func (l looked) kept() map[int]string {
	kept := make(map[int]string, len(l.Progress.Shards))
	for _, one := range l.Progress.Shards {
		kept[one.ShardIndex] = string(one.Phase)
		if one.Reason != nil {
			kept[one.ShardIndex] = string(*one.Reason)
		}
	}
	return kept
}

// is tells whether exactly this keeps the removed shards while they are drained.
func (l looked) is(kept map[int]protocol.DrainReason) bool {
	found := l.kept()
	for index, reason := range kept {
		if found[index] != string(reason) {
			return false
		}
	}
	return l.State == protocol.MigrationDraining && len(found) == len(kept)
}

// until looks at the resharding until it is as wanted.
func (d *drainage) until(id string, wanted func(looked) bool, what string) looked {
	d.t.Helper()
	var last looked
	require.Eventually(d.t, func() bool {
		last = d.look(id)
		return wanted(last)
	}, patience, often, what)
	return last
}

// stays looks at the resharding for some time, in which it must be as wanted.
func (d *drainage) stays(id string, long time.Duration, wanted func(looked) bool, what string) {
	d.t.Helper()
	since := time.Now()
	d.until(id, func(l looked) bool {
		require.True(d.t, wanted(l), "%s, it is %s with %v", what, l.State, l.kept())
		return time.Since(since) > long
	}, what)
}

// over waits for the end of a resharding, and prints what it rests on.
func (d *drainage) over(id string, state protocol.MigrationState) looked {
	d.t.Helper()
	last := d.until(id, func(l looked) bool { return l.State == state }, "resharding is "+string(state))
	d.t.Logf("%d to %d shards is %s after %s", last.FromShardCount, last.ToShardCount, last.State,
		last.UpdatedAt.Sub(last.CreatedAt.Time).Round(time.Millisecond))
	for _, one := range last.Progress.Shards {
		require.Equal(d.t, protocol.DrainSealed, one.Phase)
		require.NotNil(d.t, one.Proof)
		d.t.Logf("shard %d: proof %s, sealed %s after the order", one.ShardIndex, *one.Proof, one.Since.Sub(last.CreatedAt.Time).Round(time.Millisecond))
	}
	return last
}

// requireSealed looks whether shards are sealed in Redis: nothing can be added to them,
// whoever asks, and what they held is kept (protocol L5).
func (d *drainage) requireSealed(id string, indexes ...int) {
	d.t.Helper()
	for _, index := range indexes {
		key := routing.StreamKey(stream, index)
		require.Equal(d.t, "retired:"+id, d.rdb.Get(d.t.Context(), key).Val())
		for _, noMake := range []bool{false, true} {
			err := d.rdb.XAdd(d.t.Context(), &redis.XAddArgs{Stream: key, NoMkStream: noMake, Values: []any{"late", 1}}).Err()
			require.ErrorContains(d.t, err, "WRONGTYPE", "shard %d takes nothing any more", index)
		}
		require.Equal(d.t, "stream", d.rdb.Type(d.t.Context(), retiredKey(index, id)).Val())
	}
}

// requireShards looks whether exactly the first shards of the stream are there.
func (d *drainage) requireShards(count, most int) {
	d.t.Helper()
	for index := range most {
		kind := d.rdb.Type(d.t.Context(), routing.StreamKey(stream, index)).Val()
		require.Equal(d.t, index < count, kind == "stream", "shard %d is a %s", index, kind)
	}
	for _, name := range d.groupNames() {
		routes, err := d.admin.Routing(d.t.Context(), stream, name)
		require.NoError(d.t, err)
		require.Equal(d.t, count, routes.ShardCount)
	}
}

func (d *drainage) groupNames() []string {
	d.t.Helper()
	found, err := d.admin.Stream(d.t.Context(), stream)
	require.NoError(d.t, err)
	return found.ConsumerGroups
}

func retiredKey(index int, id string) string {
	return fmt.Sprintf("redis-stream:coord:retired:{%s}:%s", routing.StreamKey(stream, index), id)
}

// add adds records to a shard and returns their ids.
func (d *drainage) add(index, count int) []string {
	d.t.Helper()
	ids := make([]string, count)
	for i := range ids {
		id, err := d.rdb.XAdd(d.t.Context(), &redis.XAddArgs{
			Stream: routing.StreamKey(stream, index), NoMkStream: true, Values: []any{"n", i},
		}).Result()
		require.NoError(d.t, err)
		ids[i] = id
	}
	return ids
}

// idle tells whether a Redis group has nothing unread and nothing pending on the shards, by
// what the groups say of themselves and by the entries behind them.
func (d *drainage) idle(name string, indexes ...int) bool {
	d.t.Helper()
	for _, index := range indexes {
		key := routing.StreamKey(stream, index)
		groups, err := d.rdb.XInfoGroups(d.t.Context(), key).Result()
		require.NoError(d.t, err)
		at := slices.IndexFunc(groups, func(g redis.XInfoGroup) bool { return g.Name == name })
		require.GreaterOrEqual(d.t, at, 0)
		behind, err := d.rdb.XRangeN(d.t.Context(), key, "("+groups[at].LastDeliveredID, "+", 1).Result()
		require.NoError(d.t, err)
		if groups[at].Pending > 0 || len(behind) > 0 {
			return false
		}
	}
	return true
}

// causes counts what the flight recorder of the group tells, and returns it in words too.
func (d *drainage) causes() (map[protocol.EventCause]int, string) {
	d.t.Helper()
	page, err := d.admin.Events(d.t.Context(), stream, group, "", protocol.MaxEvents)
	require.NoError(d.t, err)
	count, told := make(map[protocol.EventCause]int), []string{}
	for _, event := range page.Events {
		for _, change := range event.Changes {
			count[change.Cause]++
			told = append(told, string(change.Cause))
		}
	}
	return count, strings.Join(told, " ")
}

// requireCode looks whether the coordinator refused with a code.
func requireCode(t *testing.T, err error, status int, code protocol.Code) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code, "%v", err)
	require.ErrorContains(t, err, fmt.Sprintf("HTTP %d", status))
}

// indexRange lists the shards from ≤ index < to.
func indexRange(from, to int) []int {
	indexes := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		indexes = append(indexes, i)
	}
	return indexes
}
