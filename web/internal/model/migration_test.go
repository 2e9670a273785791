package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

func migrationOf(state protocol.MigrationState, shards ...protocol.ShardDrain) protocol.Migration {
	return protocol.Migration{
		ReshardingID: "R-1", FromShardCount: 6, ToShardCount: 4, State: state,
		Progress: &protocol.MigrationProgress{Total: len(shards), Shards: shards},
	}
}

func shown(of protocol.Migration, rows map[int]protocol.GrafanaShardRow) model.Migration {
	return model.NewMigration(of, model.MigrationQuery{Stream: "orders", Group: "readers"}, rows, "/console")
}

// L2, L3, L8.
func TestEveryStateOfAReshardingIsSaidInWords(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		state       protocol.MigrationState
		words, tone string
		over        bool
	}{
		{protocol.MigrationPreparing, "preparing", "busy", false},
		{protocol.MigrationActive, "active", "busy", false},
		{protocol.MigrationDraining, "draining", "busy", false},
		{protocol.MigrationDeprecated, "done", "good", true},
		{protocol.MigrationRollingBack, "rolling back", "warn", false},
		{protocol.MigrationRolledBack, "rolled back", "good", true},
		{"SOMETHING_NEW", "something new", "warn", false},
	} {
		page := shown(migrationOf(want.state), nil)
		require.Equal(t, want.words, page.State)
		require.Equal(t, want.tone, page.Tone, want.state)
		require.Equal(t, want.over, page.Over, want.state)
		require.Equal(t, want.over, page.Live == "", "%s: what is over is not kept up to date", want.state)
		require.Equal(t, want.state == "SOMETHING_NEW", page.Meaning == "", want.state)
	}
}

// L4, L9, L12: each reason says what it means and what can be done, and an operator's word is
// asked for only where it would be taken.
func TestEveryReasonSaysWhatCanBeDone(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		reason  protocol.DrainReason
		says    string
		confirm bool
	}{
		{protocol.DrainStreamMissing, "gone from Redis", false},
		{protocol.DrainGroupMissing, "The consumer group of billing is gone", false},
		{protocol.DrainUnread, "not given to billing", false},
		{protocol.DrainPending, "that c-7 of billing was given are not acknowledged", false},
		{protocol.DrainLagUnknown, "cannot tell how much billing has not read", true},
		{protocol.DrainLagContradicts, "no record behind", true},
		{protocol.DrainStillOwned, "may still be reading it", false},
	} {
		drain := protocol.ShardDrain{
			ShardIndex: 4, Phase: protocol.DrainReading, Reason: &want.reason, BlockingGroup: new("billing"), BlockingConsumer: new("c-7"),
		}
		line := shown(migrationOf(protocol.MigrationDraining, drain), nil).Drains[0]
		require.Contains(t, line.Why, want.says, want.reason)
		require.NotEmpty(t, line.Advice, want.reason)
		require.Equal(t, want.confirm, line.Confirm != "", want.reason)
		drain.Phase = protocol.DrainSealed
		require.Empty(t, shown(migrationOf(protocol.MigrationDraining, drain), nil).Drains[0].Confirm, "%s: a sealed shard takes no word", want.reason)
		drain.BlockingGroup, drain.BlockingConsumer = nil, nil
		require.NotEmpty(t, shown(migrationOf(protocol.MigrationDraining, drain), nil).Drains[0].Why, want.reason)
	}
	newer := protocol.DrainReason("SOMETHING_NEW")
	line := shown(migrationOf(protocol.MigrationDraining, protocol.ShardDrain{Phase: "NEWER", Reason: &newer}), nil).Drains[0]
	require.Equal(t, "something new.", line.Why)
	require.Equal(t, "newer", line.Phase)
}

func TestPhasesAndProofsOfRemovedShards(t *testing.T) {
	t.Parallel()
	for phase, words := range map[protocol.DrainPhase]string{
		protocol.DrainReading: "being read", protocol.DrainClosing: "empty, being let go", protocol.DrainSealed: "sealed",
	} {
		line := shown(migrationOf(protocol.MigrationDraining, protocol.ShardDrain{Phase: phase}), nil).Drains[0]
		require.Equal(t, words, line.Phase)
		require.Equal(t, model.Unknown, line.Pending, "what is unknown is not 0")
		require.Equal(t, model.Unknown, line.Lag)
		require.Equal(t, phase == protocol.DrainReading, line.Why != "", phase)
	}
	for proof, says := range map[protocol.DrainProof]string{
		protocol.ProofLag: "nothing unread", protocol.ProofTail: "tail", protocol.ProofConfirmed: "operator's word",
	} {
		require.Contains(t, shown(migrationOf(protocol.MigrationDraining, protocol.ShardDrain{Proof: &proof}), nil).Drains[0].Proof, says)
	}
}

func TestTheTimeLeftIsThatOfTheSlowestAndUnknownWhereAnyIs(t *testing.T) {
	t.Parallel()
	unread := func(index int, change ...func(*protocol.ShardDrain)) protocol.ShardDrain {
		drain := protocol.ShardDrain{ShardIndex: index, Phase: protocol.DrainReading, Reason: new(protocol.DrainUnread), BlockingGroup: new("readers")}
		for _, apply := range change {
			apply(&drain)
		}
		return drain
	}
	takes := func(seconds float64) protocol.GrafanaShardRow {
		return protocol.GrafanaShardRow{ShardSignals: protocol.ShardSignals{TimeToDrainSeconds: &seconds}}
	}
	rows := map[int]protocol.GrafanaShardRow{4: takes(2), 5: takes(90), 6: {}}
	left := func(shards ...protocol.ShardDrain) string {
		return shown(migrationOf(protocol.MigrationDraining, shards...), rows).Left
	}
	require.Equal(t, "1 min 30 s", left(unread(4), unread(5)))
	require.Equal(t, "2.0 s", left(unread(4), protocol.ShardDrain{ShardIndex: 6, Phase: protocol.DrainSealed}))
	require.Equal(t, model.Unknown, left(unread(4), unread(6)), "a rate is not known")
	require.Equal(t, model.Unknown, left(unread(4), unread(7)), "a shard was not observed")
	require.Equal(t, model.Unknown, left(unread(4, func(d *protocol.ShardDrain) { d.BlockingGroup = new("billing") })), "of another group")
	require.Equal(t, model.Unknown, left(unread(4, func(d *protocol.ShardDrain) { d.Reason = new(protocol.DrainPending) })), "no reading helps")
	require.Empty(t, left(protocol.ShardDrain{Phase: protocol.DrainClosing}), "nothing is read")
	require.Empty(t, left(unread(4, func(d *protocol.ShardDrain) { d.Reason = nil })), "producers may still write")
	require.Empty(t, left())
}

func TestGroupsThatAreWaitedForAreNamed(t *testing.T) {
	t.Parallel()
	of := migrationOf(protocol.MigrationActive)
	of.Progress.Groups = []protocol.GroupProgress{
		{ConsumerGroup: "a"}, {ConsumerGroup: "b", Copied: true}, {ConsumerGroup: "c", Copied: true, Settled: true},
	}
	of.Progress.Total, of.Progress.Done, of.Progress.LastError = 2, 1, new("Redis is loading")
	page := shown(of, nil)
	require.Equal(t, "has not copied the layout yet", page.Waits[0].Says)
	require.Equal(t, "is handing shards over", page.Waits[1].Says)
	require.Equal(t, "has settled", page.Waits[2].Says)
	require.Equal(t, "1 of 2 shards made, 2 of 3 groups on the layout", page.Progress)
	require.Equal(t, "Redis is loading", page.LastError)
	of.Progress = nil
	require.Zero(t, shown(of, nil).Total, "an answer without progress")
}

// L2, L10: a bar at its end says that nothing is waited for.
func TestTheBarIsFullOnlyWhenNothingIsWaitedFor(t *testing.T) {
	t.Parallel()
	of := migrationOf(protocol.MigrationActive)
	of.Progress.Total, of.Progress.Done = 2, 2
	of.Progress.Groups = []protocol.GroupProgress{{ConsumerGroup: "billing"}}
	page := shown(of, nil)
	require.Less(t, page.Done, page.Total)
	require.Equal(t, "2 of 2 shards made, 0 of 1 group on the layout", page.Progress)
	require.Equal(t, "It waits for group billing to copy the layout, which the group's coordinator does by itself.", page.Waiting)
	of.Progress.Groups[0].Copied = true
	page = shown(of, nil)
	require.Less(t, page.Done, page.Total, "old answers to producers run out")
	require.Contains(t, page.Waiting, "to run out")
	of.State, of.Progress.Groups = protocol.MigrationDeprecated, nil
	page = shown(of, nil)
	require.Equal(t, page.Total, page.Done)
	require.Empty(t, page.Waiting)

	of.State, of.Progress.Done = protocol.MigrationPreparing, 1
	of.Progress.Groups = []protocol.GroupProgress{{ConsumerGroup: "billing", Copied: true, Settled: true}}
	require.Equal(t, "reads on as before", shown(of, nil).Waits[0].Says, "it has nothing to settle yet")
	require.Equal(t, "It waits for 1 shard to be made.", shown(of, nil).Waiting)
	of = migrationOf(protocol.MigrationDraining, protocol.ShardDrain{ShardIndex: 4}, protocol.ShardDrain{ShardIndex: 5})
	require.Equal(t, "It waits for 2 removed shards to be read to the end and sealed; the table says what keeps each.", shown(of, nil).Waiting)
	for _, name := range []string{"a", "b", "c", "d", strings.Repeat("e", 300)} {
		of.Progress.Groups = append(of.Progress.Groups, protocol.GroupProgress{ConsumerGroup: name})
	}
	require.Contains(t, shown(of, nil).Waiting, "groups a, b, c and 2 more to copy")
}

func TestAReshardingOfTheSameFormIsKnown(t *testing.T) {
	t.Parallel()
	active := &protocol.Migration{ToShardCount: 6, RequestedBy: new("ops"), Reason: new("load")}
	require.True(t, model.SameOrder(active, 6, "ops", "load"))
	require.False(t, model.SameOrder(active, 8, "ops", "load"))
	require.False(t, model.SameOrder(active, 6, "eve", "load"))
	require.False(t, model.SameOrder(active, 6, "ops", "other"))
	require.False(t, model.SameOrder(nil, 6, "ops", "load"))
	active.RequestedBy, active.Reason = nil, nil
	require.False(t, model.SameOrder(active, 6, "ops", "load"), "nobody knows whose it is")
}

func TestPlansAreTheSameOnlyWithTheSamePrint(t *testing.T) {
	t.Parallel()
	group := protocol.GroupResponse{StreamPrefix: "shop:orders@eu.1", ConsumerGroup: "readers+1", ShardCount: 4}
	planned := func(change func(*protocol.Plan)) model.Scale {
		plan := protocol.Plan{FromShardCount: 4, ToShardCount: 40}
		for at := 4; at < 40; at++ {
			plan.ShardsAdded = append(plan.ShardsAdded, at)
		}
		change(&plan)
		return model.NewScale(group, "40", model.Typed{}, "/console").Planned(plan, 1)
	}
	same := func(*protocol.Plan) {}
	one := planned(same)
	require.Equal(t, one.Plan.Print, planned(same).Plan.Print)
	require.Equal(t, "4–39", one.Plan.Added)
	require.Equal(t, "none", one.Plan.Removed)
	require.Equal(t, `shop:orders@eu\.1`, one.Confirm.Pattern(), "a pattern of the browser matches the name only")
	require.Equal(t, "/console/streams/shop:orders@eu.1/groups/readers+1/scale", one.Address)
	for _, change := range []func(*protocol.Plan){
		func(p *protocol.Plan) { p.FromShardCount = 5 },
		func(p *protocol.Plan) { p.Warnings = []string{"w"} },
		func(p *protocol.Plan) {
			p.Groups = []protocol.GroupPlan{{ConsumerGroup: "g", Moves: []protocol.MemberMove{{MemberID: "m", Gains: []int{4}}}}}
		},
	} {
		require.NotEqual(t, one.Plan.Print, planned(change).Plan.Print)
	}
	scattered := planned(func(p *protocol.Plan) {
		p.ShardsAdded = nil
		for at := 0; at < 4000; at += 2 {
			p.ShardsAdded = append(p.ShardsAdded, at)
		}
	})
	require.True(t, strings.HasSuffix(scattered.Plan.Added, "22 and 1\u202f988 more"), scattered.Plan.Added)
}
