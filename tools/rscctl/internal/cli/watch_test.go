package cli

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// story is a resharding from its beginning to the state end.
func story(end protocol.MigrationState) []any {
	sealed := draining()
	sealed.Done = 5
	sealed.Shards[1] = sealed.Shards[0]
	sealed.Shards[1].ShardIndex = 4
	return []any{
		resharding(protocol.MigrationActive, nil), resharding(protocol.MigrationActive, nil),
		resharding(protocol.MigrationDraining, draining()), resharding(end, sealed),
	}
}

const told = `R1  8 -> 3 shards  ACTIVE
R1  8 -> 3 shards  DRAINING  2 of 5 done
  group orders-g has the layout
  shard 3 SEALED, proof LAG
  shard 4 READING: PENDING by group orders-g, consumer c9
R1  8 -> 3 shards  DEPRECATED  5 of 5 done
  shard 4 SEALED, proof LAG
`

func TestAWatchPrintsALineForEachChange(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"migrations watch orders", "migrations watch orders R1"} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answers: underway(true, story(protocol.MigrationDeprecated)...)}
			require.Equal(t, outcome{out: told}, inBubble(t.Context(), scene{}, f, line))
		})
	}
}

func TestAScaleIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: answers{planScale: {fewer()}, postScale: {beganR1()}, getMigration: story(protocol.MigrationDeprecated)}}
		got := inBubble(t.Context(), scene{}, f, "streams scale orders 3 --reason r --yes --watch")
		require.Equal(t, outcome{out: planned + "Resharding R1 of stream orders has begun: 8 -> 3 shards.\n" + told}, got)
	})
}

func TestAWatchEndsWith3WhenItWasRolledBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: underway(true, story(protocol.MigrationRolledBack)...)}
		got := inBubble(t.Context(), scene{}, f, "migrations watch orders")
		require.Equal(t, 3, got.code)
		require.Equal(t, "rscctl: resharding R1 of stream orders was rolled back; the stream has 8 shards\n", got.err)
	})
}

func TestAFollowedRollbackEndsWith0(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		says := underway(true, story(protocol.MigrationRolledBack)...)
		says["POST /streams/orders/groups/orders-g/migrations/R1/rollback?dryRun=true"] = []any{protocol.Plan{Action: protocol.PlanRollback}}
		says["POST /streams/orders/groups/orders-g/migrations/R1/rollback"] = []any{resharding(protocol.MigrationRollingBack, nil)}
		got := inBubble(t.Context(), scene{}, &fake{answers: says}, "migrations rollback orders --yes --watch --reason r")
		require.Zero(t, got.code, got.err)
		require.Contains(t, got.out, "ROLLED_BACK")
	})
}

func TestAWatchForAProgramPrintsOneJSONALine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: underway(true, story(protocol.MigrationDeprecated)...)}
		got := inBubble(t.Context(), scene{}, f, "migrations watch orders -o json")
		var states []protocol.MigrationState
		for line := range strings.Lines(got.out) {
			var m protocol.Migration
			require.NoError(t, json.Unmarshal([]byte(line), &m))
			states = append(states, m.State)
		}
		require.Equal(t, []protocol.MigrationState{"ACTIVE", "DRAINING", "DEPRECATED"}, states)
	})
}

func TestATerminalGetsABarUnderTheLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: underway(true, story(protocol.MigrationDeprecated)...)}
		got := inBubble(t.Context(), scene{onlyOutput: true, env: map[string]string{"NO_COLOR": "1"}}, f, "migrations watch orders")
		require.Zero(t, got.code)
		require.Contains(t, got.out, "8 -> 3 DRAINING  42% |")
		require.Contains(t, got.out, "8 -> 3 DEPRECATED 100% |")
		require.Contains(t, got.out, "  shard 4 READING: PENDING by group orders-g, consumer c9\n")
		require.True(t, strings.HasSuffix(got.out, "\n"))
	})
}

func TestAnInterruptedWatchSaysThatTheReshardingGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1200*time.Millisecond)
		defer cancel()
		interrupted, interrupt := context.WithCancel(t.Context())
		defer context.AfterFunc(ctx, interrupt)()
		f := &fake{answers: underway(true, resharding(protocol.MigrationDraining, draining()))}
		got := inBubble(interrupted, scene{}, f, "migrations watch orders")
		require.Equal(t, 1, got.code)
		require.Equal(t, "rscctl: the watch was interrupted; resharding R1 goes on. "+
			"Follow it again with: rscctl migrations watch orders R1\n", got.err)
		require.Empty(t, f.changes())
	})
}

func TestAWatchOutlastsACoordinatorThatIsAwayAndSaysSoOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reads := append([]any{refused{protocol.CodeTerminating, "it ends"}, refused{protocol.CodeTerminating, "it ends"}},
			story(protocol.MigrationDeprecated)...)
		f := &fake{answers: underway(true, reads...)}
		got := inBubble(t.Context(), scene{}, f, "migrations watch orders")
		require.Zero(t, got.code)
		require.Equal(t, told, got.out)
		require.Equal(t, "rscctl: COORDINATOR_TERMINATING: it ends; trying again\n", got.err)
	})
}

func TestAWatchThatGivesUpSaysThatTheReshardingGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: underway(true, refused{protocol.CodeStoreUnavailable, "no Redis"})}
		got := inBubble(t.Context(), scene{}, f, "migrations watch orders")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.err, "cannot follow resharding R1 of stream orders, which goes on: no Redis\n  code: STORE_UNAVAILABLE\n")
	})
}

func TestWhatStaysIsNoNews(t *testing.T) {
	t.Parallel()
	first := draining()
	first.LastError = new("no Redis")
	second := draining()
	second.LastError, second.Shards[1].Pending = new("no Redis"), new(int64(1))
	before := resharding(protocol.MigrationDraining, first)
	require.Contains(t, news(protocol.Migration{}, before), "  trying again after: no Redis")
	require.Empty(t, news(before, resharding(protocol.MigrationDraining, second)))
	second.LastError = new("no primary")
	require.Equal(t, []string{"  trying again after: no primary"}, news(before, resharding(protocol.MigrationDraining, second)))
}

func TestShardsWithTheSameNewsAreOneLine(t *testing.T) {
	t.Parallel()
	progress := &protocol.MigrationProgress{}
	for shard := range 2000 {
		progress.Shards = append(progress.Shards, protocol.ShardDrain{ShardIndex: 8 + shard, Phase: protocol.DrainReading})
	}
	before := resharding(protocol.MigrationDraining, nil)
	require.Equal(t, []string{"  shard 8-2007 READING"}, news(before, resharding(protocol.MigrationDraining, progress)))
}

func TestTheBarIsFullOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	all := &protocol.MigrationProgress{Done: 4, Total: 4, Groups: []protocol.GroupProgress{{ConsumerGroup: "g"}}}
	require.Equal(t, barSteps*4/6, steps(resharding(protocol.MigrationActive, all)), "a group has not copied the layout (L2)")
	require.Equal(t, ", 1 group without the layout", without(resharding(protocol.MigrationActive, all)))
	require.Empty(t, without(resharding(protocol.MigrationPreparing, all)))
	all.Groups[0].Copied = true
	require.Equal(t, barSteps*5/6, steps(resharding(protocol.MigrationActive, all)), "its end is a step")
	require.Empty(t, without(resharding(protocol.MigrationActive, all)))
	require.Equal(t, barSteps, steps(resharding(protocol.MigrationDeprecated, nil)))
	require.Equal(t, barSteps, steps(resharding(protocol.MigrationRolledBack, nil)))
	require.Zero(t, steps(resharding(protocol.MigrationPreparing, nil)))
}
