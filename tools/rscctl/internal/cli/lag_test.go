package cli

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	getOffsets = "GET /monitoring/streams/orders/groups/g/offsets"
	getRows    = "GET /monitoring/grafana/groups"
	getFollow  = "GET /monitoring/stream?streamPrefix=orders"
)

// behind are three shards: one that is behind, one that nobody knows of, and one at rest.
func behind() protocol.StreamShardOffsetsResponse {
	shard := func(index int, known bool) protocol.StreamShardOffset {
		return protocol.StreamShardOffset{
			StreamPrefix: "orders", ConsumerGroup: "g", Shard: protocol.ShardID{ShardIndex: index}, LagKnown: known,
			OwnerMemberIDs: []string{},
		}
	}
	late, lost, rest := shard(0, true), shard(1, false), shard(2, true)
	late.Lag, late.OldestUnreadAgeMs, late.PendingCount = new(int64(7)), new(int64(83_400)), 3
	late.ProducedPerSecond, late.ConsumedPerSecond, late.OwnerMemberIDs = new(12.34), new(0.0), []string{"m1"}
	lost.Problem, lost.LagReason, lost.OwnerMemberIDs = new("STREAM_MISSING"), new(protocol.LagNotObserved), []string{"m1", "m2"}
	lost.Lag = new(int64(9)) // what is not known is not shown, whatever stands there
	rest.Lag, rest.ConsumedPerSecond, rest.TrimmedUnreadAlarm = new(int64(0)), nil, true
	return protocol.StreamShardOffsetsResponse{
		StreamPrefix: "orders", ConsumerGroup: "g", Shards: []protocol.StreamShardOffset{late, lost, rest}, TotalPendingCount: 3,
		GroupSignals: protocol.GroupSignals{KnownParts: 2, AllParts: 3, Partial: true},
	}
}

func caughtUp() protocol.StreamShardOffsetsResponse {
	found := behind()
	found.Shards = found.Shards[:1]
	found.Shards[0].Lag, found.TotalLag = new(int64(0)), new(int64(0))
	found.GroupSignals = protocol.GroupSignals{KnownParts: 1, AllParts: 1}
	return found
}

func TestLagShowsWhatIsUnknownAsUnknown(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getOffsets: {behind()}})
	require.Equal(t, outcome{out: text(`
		SHARD   OWNER    LAG   UNREAD AGE   PRODUCED/S   CONSUMED/S   PENDING   WHY UNKNOWN
		0       m1       7     1m23s        12.3         0.0          3         -
		1       m1, m2   -     -            -            -            -         STREAM_MISSING
		2       -        0     -            -            -            0         TRIMMED_UNREAD
		TOTAL            -     -            -            -            -         2 of 3 known
		`)}, rscctl(t, scene{}, url, "lag orders g"))
	sorted := rscctl(t, scene{}, url, "lag orders g --sort lag").out
	require.Regexp(t, `(?s)\n1 .*\n0 .*\n2 .*\nTOTAL `, sorted, "what nobody knows wants to be looked at")
	requireJSON(t, behind(), rscctl(t, scene{}, url, "lag orders g -o json").out)
	var back map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(rscctl(t, scene{}, url, "lag orders g -o yaml").out), &back))
	require.Contains(t, back, "totalLag")
	require.Nil(t, back["totalLag"])
}

func TestLagOfAllGroupsHasSumsOnlyOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	row := func(stream string, lag *int64, unread int64) protocol.GrafanaGroupRow {
		one := protocol.GrafanaGroupRow{StreamPrefix: stream, ConsumerGroup: "g", ShardCount: 4, TotalLag: lag, TotalPendingCount: 2}
		one.ProducedPerSecond, one.ConsumedPerSecond, one.KnownParts, one.AllParts = new(1.5), new(2.0), 4, 4
		if unread > 0 {
			one.OldestUnreadAgeMs = &unread
		}
		return one
	}
	known := []protocol.GrafanaGroupRow{row("a", new(int64(1)), 500), row("b", new(int64(20)), 61_000), row("c", new(int64(0)), 0)}
	_, url := serve(t, answers{getRows: {known}})
	require.Equal(t, outcome{out: text(`
		STREAM   GROUP   SHARDS   LAG   UNREAD AGE   PRODUCED/S   CONSUMED/S   PENDING   WHY UNKNOWN
		b        g       4        20    1m1s         1.5          2.0          2         -
		a        g       4        1     500ms        1.5          2.0          2         -
		c        g       4        0     -            1.5          2.0          2         -
		TOTAL                     21    1m1s         4.5          6.0          6         -
		`)}, rscctl(t, scene{}, url, "lag --sort lag"))

	doubtful := row("d", nil, 0)
	doubtful.KnownParts, doubtful.ProducedPerSecond, doubtful.Partial = 3, nil, true
	_, url = serve(t, answers{getRows: {append(known, doubtful)}})
	require.Contains(t, rscctl(t, scene{}, url, "lag").out, text(`
		d        g       4        -     -            -            2.0          -         3 of 4 known
		TOTAL                     -     -            -            8.0          -         3 of 4 groups known
		`))
	_, url = serve(t, answers{getRows: {[]protocol.GrafanaGroupRow{}}})
	require.Equal(t, outcome{out: "No groups.\n"}, rscctl(t, scene{}, url, "lag"))
	require.JSONEq(t, `{"groups": []}`, rscctl(t, scene{}, url, "lag -o json").out)
}

func TestLagWithoutAMonitorSaysWhoAnswersIt(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{})
	got := rscctl(t, scene{}, url, "lag orders g")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "cannot show the lag of group g of stream orders: ")
	require.Contains(t, got.err, "start it with --gateway-monitor")
	require.Equal(t, 2, rscctl(t, scene{}, url, "lag --sort size").code)
}

func watchedLag() answers {
	return answers{
		getOffsets: {behind(), behind(), refused{protocol.CodeUpstreamUnavailable, "no monitor"}, caughtUp()},
		getFollow:  {rounds{{Round: 1, At: at(0)}, {Round: 2, At: at(5)}}, rounds{{Round: 3, At: at(10)}}},
	}
}

func TestAWatchOfTheLagPrintsLinesWithTheTimeOfTheRound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		got := inBubble(ctx, scene{}, &fake{answers: watchedLag()}, "lag orders g --watch")
		require.Zero(t, got.code)
		require.Equal(t, `2026-01-02T03:04:05Z  shard 0  owner m1  lag 7  unread age 1m23s  produced/s 12.3  consumed/s 0.0  pending 3  why unknown -
2026-01-02T03:04:05Z  shard 1  owner m1, m2  lag -  unread age -  produced/s -  consumed/s -  pending -  why unknown STREAM_MISSING
2026-01-02T03:04:05Z  shard 2  owner -  lag 0  unread age -  produced/s -  consumed/s -  pending 0  why unknown TRIMMED_UNREAD
2026-01-02T03:04:05Z  shard TOTAL  lag -  unread age -  produced/s -  consumed/s -  pending -  why unknown 2 of 3 known
2026-01-02T03:04:15Z  shard 0  owner m1  lag 0  unread age 1m23s  produced/s 12.3  consumed/s 0.0  pending 3  why unknown -
2026-01-02T03:04:15Z  shard TOTAL  lag 0  unread age -  produced/s -  consumed/s -  pending 3  why unknown -
`, got.out)
		require.Equal(t, 1, strings.Count(got.err, "trying again"), got.err)
	})
}

func TestAWatchOfTheLagRedrawsATerminalWithinItsHeight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		says := watchedLag()
		says[getFollow] = []any{rounds{{Round: 1}}}
		s := scene{onlyOutput: true, lines: 8, env: map[string]string{"NO_COLOR": "1"}}
		got := inBubble(ctx, s, &fake{answers: says}, "lag orders g --watch")
		require.Zero(t, got.code)
		require.Equal(t, 1, strings.Count(got.out, "\x1b[H\x1b[J"))
		require.Contains(t, got.out, "(1 more lines: a higher terminal shows them)\n")
		require.Contains(t, got.out, "\nTOTAL ")
		require.LessOrEqual(t, strings.Count(got.out, "\n"), s.lines-1)
	})
}

func TestAWatchOfTheLagForAProgramPrintsOneAnswerARound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		got := inBubble(ctx, scene{}, &fake{answers: watchedLag()}, "lag orders g --watch -o json")
		lines := strings.Split(strings.TrimSpace(got.out), "\n")
		require.Len(t, lines, 2)
		requireJSON(t, behind(), lines[0])
		requireJSON(t, caughtUp(), lines[1])
	})
}

func TestAWatchOfAGroupThatIsDeletedEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		says := watchedLag()
		says[getOffsets] = []any{behind(), refused{protocol.CodeGroupNotFound, "it is gone"}}
		got := inBubble(t.Context(), scene{}, &fake{answers: says}, "lag orders g --watch")
		require.Equal(t, 1, got.code)
		require.Contains(t, got.err, "cannot show the lag of group g of stream orders: it is gone\n  code: GROUP_NOT_FOUND\n")
	})
}
