package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// largest is the largest suite that is promised: 4,096 shards in 64 groups, with so many
// members over all groups, each of which reports the shards that it reads.
func largest(number int64, members int) facts.Round {
	const groups, shards = 64, 64
	at := began().Add(time.Duration(number) * 5 * time.Second)
	round := facts.Round{Number: number, At: at}
	for g := range groups {
		stream := fmt.Sprintf("stream-%02d", g)
		one := facts.Stream{Prefix: stream, ShardCount: shards}
		for index := range shards {
			one.Shards = append(one.Shards, shardOf(stream, "billing", index, at, number))
		}
		round.Streams = append(round.Streams, one)
		var list []protocol.MemberMetadata
		for m := g; m < members; m += groups {
			list = append(list, memberOf(fmt.Sprintf("member-%04d", m), m/groups, at))
		}
		group := groupOf(stream, "billing", list...)
		group.View.ShardCount = shards
		round.Groups = append(round.Groups, group)
	}
	return round
}

// memberOf reads four shards and reports them.
func memberOf(name string, place int, at time.Time) protocol.MemberMetadata {
	member := protocol.MemberMetadata{
		MemberID: name, State: protocol.MemberActive, RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 3,
		LastHeartbeatAt: protocol.Timestamp{Time: at}, MemberLeaseExpiresAt: protocol.Timestamp{Time: at.Add(9 * time.Second)},
	}
	updated, record := protocol.Timestamp{Time: at}, id(at)
	for i := range 4 {
		shard := protocol.ShardID{ShardIndex: (4*place + i) % 64}
		member.CurrentAssignment = append(member.CurrentAssignment, shard)
		member.ShardProgress = append(member.ShardProgress, protocol.ShardProgress{
			Shard: shard, LastDeliveredID: &record, LastAckedID: &record, PendingCount: 2, UpdatedAt: &updated,
		})
	}
	return member
}

// meter is a collector that has seen two rounds of the largest suite.
func meter(members int, cfg metrics.Config) *prometheus.Registry {
	book, registry := rates.NewBook(time.Minute), prometheus.NewRegistry()
	book.Add(largest(1, members))
	round := largest(2, members)
	look := metrics.Look{Round: round, Snapshot: book.Add(round), At: round.At}
	registry.MustRegister(metrics.New(cfg, metrics.Deps{
		Newest: func() (metrics.Look, bool) { return look, true },
		Holds:  func() bool { return true }, Skipped: func() int64 { return 0 }, Now: func() time.Time { return round.At },
	}))
	return registry
}

// scraped returns how many bytes a scrape has.
func scraped(tb testing.TB, registry *prometheus.Registry) int {
	tb.Helper()
	answer := httptest.NewRecorder()
	telemetry.Handler(registry).ServeHTTP(answer, httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/metrics", http.NoBody))
	require.Equal(tb, http.StatusOK, answer.Code)
	return answer.Body.Len()
}

// seriesOf returns how many series a scrape has.
func seriesOf(tb testing.TB, registry *prometheus.Registry) (series int) {
	tb.Helper()
	families, err := registry.Gather()
	require.NoError(tb, err)
	for _, family := range families {
		series += len(family.GetMetric())
	}
	return series
}

// TestSeriesDoNotGrowWithTheMembers where those of members are switched off: so many for a
// shard, so many for a group, and those of the monitor.
func TestSeriesDoNotGrowWithTheMembers(t *testing.T) {
	t.Parallel()
	few := meter(64, metrics.Config{})
	many := meter(1000, metrics.Config{})
	all := meter(1000, metrics.Config{MemberSeries: true})
	series, allSeries := seriesOf(t, many), seriesOf(t, all)
	require.Equal(t, seriesOf(t, few), series, "1,000 members are as 64")
	require.LessOrEqual(t, series, 18*4096+20*64+10)
	require.LessOrEqual(t, allSeries-series, 1000*(7+4*7), "seven a member, and seven for each shard that it reports")
	t.Logf("4,096 shards in 64 groups: %d series; with 1,000 members shown %d", series, allSeries)
}

// BenchmarkScrape is a scrape of the largest suite, as text.
func BenchmarkScrape(b *testing.B) {
	for name, cfg := range map[string]metrics.Config{"shards": {}, "shards and members": {MemberSeries: true}} {
		b.Run(name, func(b *testing.B) {
			registry := meter(1000, cfg)
			b.ReportAllocs()
			var bytes int
			for b.Loop() {
				bytes = scraped(b, registry)
			}
			b.ReportMetric(float64(seriesOf(b, registry)), "series")
			b.ReportMetric(float64(bytes), "bytes")
		})
	}
}
