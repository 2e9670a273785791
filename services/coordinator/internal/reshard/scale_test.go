package reshard_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// T21: the stream's record decides, whichever coordinator is asked first (L1).
func TestL1OfTwoScalesAtOnceOneBeginsAndTheOtherIsRefused(t *testing.T) {
	t.Parallel()
	b := open(t, 6, "a", "b")
	b.publish(5, 1) // what is begun goes on until somebody reads
	asked := []*coordinator{b.lead, b.start()}
	var ids [2]string
	var errs [2]error
	var both sync.WaitGroup
	for i, c := range asked {
		both.Go(func() { ids[i], errs[i] = c.scale(t, b.prefix, 4+i) })
	}
	both.Wait()
	won := 0
	if errs[0] != nil {
		won = 1
	}
	require.NoError(t, errs[won])
	b.keptFor(ids[won], 5, protocol.DrainUnread)
	b.join("a", "a-1")
	b.join("b", "b-1")
	requireCode(t, errs[1-won], protocol.CodeActiveMigrationExists)
	b.becomes(ids[won], protocol.MigrationDeprecated)
	s := b.stream()
	require.Equal(t, 4+won, s.ShardCount)
	require.Len(t, s.Past, 1)
	for _, name := range []string{"a", "b"} {
		listed, err := asked[1-won].catalog.Migrations(t.Context(), b.prefix, name)
		require.NoError(t, err)
		require.Len(t, listed.Migrations, 1)
		require.Equal(t, ids[won], listed.Migrations[0].ReshardingID, "the same in all groups")
		require.Equal(t, 4+won, b.group(name).ShardCount)
	}
}

func TestL1MeanwhileNoGroupComesOrGoesAndNoScaleIsTaken(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a", "b")
	b.publish(2, 1) // nobody reads: the resharding goes on
	id := b.scaled(2)
	requireBusy := func(err error) {
		t.Helper()
		requireCode(t, err, protocol.CodeActiveMigrationExists)
	}
	for _, state := range []protocol.MigrationState{protocol.MigrationActive, protocol.MigrationDraining} {
		if state == protocol.MigrationDraining {
			b.becomes(id, state)
		}
		_, err := b.lead.catalog.CreateGroup(t.Context(), b.prefix, "c", protocol.CreateGroupRequest{RequestedBy: "t"})
		requireBusy(err)
		_, err = b.lead.catalog.DeleteGroup(t.Context(), b.prefix, "b", protocol.DeleteRequest{Force: true})
		requireBusy(err)
		_, err = b.lead.catalog.DeleteStream(t.Context(), b.prefix, protocol.DeleteRequest{Force: true})
		requireBusy(err)
		_, err = b.scale(5)
		requireBusy(err)
		_, err = b.scale(2)
		requireBusy(err)
	}
	require.Equal(t, []string{"a", "b"}, b.stream().Active())
	require.Zero(t, b.rdb.Exists(t.Context(), b.key(3)).Val())
}

// wire, statuses of mutations.
func TestScaleToThePresentCountIsNoResharding(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a")
	before := b.stream()
	target := 3
	answer, err := b.lead.service.Scale(t.Context(), b.prefix, protocol.ScaleRequest{TargetShardCount: &target, RequestedBy: "ops"})
	require.NoError(t, err)
	require.Equal(t, protocol.NoopReshardingID, answer.Migrations[0].ReshardingID)
	require.Equal(t, protocol.MigrationDeprecated, answer.Migrations[0].State)
	require.False(t, answer.Migrations[0].RollbackAllowed)
	require.Equal(t, []string{"a"}, answer.AffectedConsumerGroups)
	require.Equal(t, before, b.stream(), "nothing has changed")
}

func TestScaleOfNoStreamIsRefused(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a")
	_, err := b.lead.scale(t, "nothing", 3)
	requireCode(t, err, protocol.CodeStreamNotFound)
}

func TestL2AddedShardsAreMadeForEveryGroupFromTheStartAndRead(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a", "b")
	_, err := b.lead.catalog.CreateGroup(t.Context(), b.prefix, "late", protocol.CreateGroupRequest{
		RequestedBy: "t", InitialPosition: protocol.PositionLatest,
	})
	require.NoError(t, err)
	for _, in := range []string{"a", "b"} {
		b.join(in, in+"-1")
		b.join(in, in+"-2")
	}
	b.settled()
	b.do("XADD", b.key(4), "1-1", "f", "v") // a key that was there before
	id := b.scaled(5)
	b.becomes(id, protocol.MigrationDeprecated)
	shown := b.migration(id)
	require.Equal(t, 3, shown.Progress.Total)
	require.Equal(t, 3, shown.Progress.Done)
	require.Equal(t, 3, shown.Progress.ProvisionedKeys)
	require.False(t, shown.RollbackAllowed)
	for index := range 5 {
		b.publish(index, 4)
	}
	for _, in := range []string{"a", "b"} {
		b.await("all records handled", func() bool { n, _ := b.handledBy(in); return n == 21 })
		require.Len(t, b.group(in).Holds, 5)
	}
	late := b.join("late", "l-1")
	b.await("all records handled", func() bool { n, _ := b.handledBy("late"); return n == 21 })
	require.Len(t, late.owned, 5, "also where the group began at the end")
}

// L2, L10: what stops the provisioning is named, nothing changes before, and the work goes
// on by itself.
func TestL2ScaleOutWaitsForAForeignKeyAndSaysSo(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.do("SET", b.key(3), "mine")
	id := b.scaled(4)
	b.await("an error", func() bool { return b.migration(id).Progress.LastError != nil })
	shown := b.migration(id)
	require.Contains(t, *shown.Progress.LastError, b.key(3))
	require.Equal(t, protocol.MigrationPreparing, shown.State)
	require.Equal(t, 1, shown.Progress.ProvisionedKeys)
	require.Equal(t, 2, shown.Progress.TotalKeys)
	require.True(t, shown.RollbackAllowed)
	require.Equal(t, 2, b.stream().ShardCount)
	require.Equal(t, 2, b.group("a").ShardCount)
	require.Equal(t, "mine", b.rdb.Get(t.Context(), b.key(3)).Val())
	b.do("DEL", b.key(3))
	b.becomes(id, protocol.MigrationDeprecated)
	require.Nil(t, b.migration(id).Progress.LastError)
	require.Equal(t, 4, b.group("a").ShardCount)
}

// L8: a rollback before routing changed takes the empty keys away and nothing else.
func TestL8RollbackWhilePreparingRemovesWhatWasMadeAndNothingElse(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.do("SET", b.key(3), "mine")
	b.do("XADD", b.key(4), "1-1", "f", "v")
	id := b.scaled(6)
	b.await("an error", func() bool { return b.migration(id).Progress.LastError != nil })
	layout := b.group("a").LayoutVersion
	plan := b.planRollback(id)
	require.Equal(t, []any{2, 2, []int{}, []int{}}, []any{plan.FromShardCount, plan.ToShardCount, plan.ShardsAdded, plan.ShardsRemoved})
	require.NoError(t, b.rollback(id))
	b.becomes(id, protocol.MigrationRolledBack)
	require.Equal(t, "mine", b.rdb.Get(t.Context(), b.key(3)).Val())
	require.EqualValues(t, 1, b.rdb.XLen(t.Context(), b.key(4)).Val(), "what was there before")
	require.Zero(t, b.rdb.Exists(t.Context(), b.key(2), b.key(5)).Val())
	require.Equal(t, 2, b.stream().ShardCount)
	require.Equal(t, layout, b.group("a").LayoutVersion, "there was nothing to copy")
	requireCode(t, b.rollback(id), protocol.CodeRollbackNotAllowed)
}

// T26: the removed shards are looked at one routing lease after the last group has copied
// the layout; routing answers shrink at once (L3).
func TestL3DrainingBeginsOneRoutingLeaseAfterTheLastGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.cfg.RoutingLease, b.cfg.BarrierExtra = 300*time.Millisecond, 100*time.Millisecond
	b.begin(4, "a", "b")
	b.publish(3, 1) // it stays
	id := b.scaled(2)
	b.await("routing", func() bool { return b.stream().ShardCount == 2 })
	routing, err := b.lead.catalog.Routing(t.Context(), b.prefix, "a")
	require.NoError(t, err)
	require.Len(t, routing.Shards, 2)
	b.becomes(id, protocol.MigrationDraining)
	draining := b.migration(id)
	copied := int64(0)
	for _, name := range []string{"a", "b"} {
		require.Equal(t, 4, b.group(name).ReadCount(), "removed shards are read on")
		copied = max(copied, scaledAt(t, b, name))
	}
	from := draining.Progress.DrainingFrom.UnixMilli()
	require.GreaterOrEqual(t, from, copied+400, "the routing lease and the time of a demoted primary")
	require.GreaterOrEqual(t, draining.UpdatedAt.UnixMilli(), from)
}

// scaledAt is when a group copied the layout of a scale, by the store's clock.
func scaledAt(t *testing.T, b *bench, name string) int64 {
	t.Helper()
	page, err := b.lead.catalog.Events(t.Context(), b.prefix, name, "", protocol.MaxEvents)
	require.NoError(t, err)
	for _, event := range page.Events {
		if event.Cause == protocol.EventScale {
			require.NotNil(t, event.Actor)
			require.Equal(t, "SCALE ops load", fmt.Sprintf("%s %s %s", *event.Action, *event.Actor, *event.Reason))
			return event.At.UnixMilli()
		}
	}
	require.Fail(t, "no event of the scale", "%v", page.Events)
	return 0
}
