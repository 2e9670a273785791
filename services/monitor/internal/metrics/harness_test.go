package metrics_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// began is when the first round of every test is.
func began() time.Time { return time.UnixMilli(1_767_323_045_000) }

// scene is a collector over rounds made by hand.
type scene struct {
	t         *testing.T
	collector *metrics.Collector
	registry  *prometheus.Registry
	book      *rates.Book
	look      *metrics.Look
	now       time.Time
	holds     bool
	skipped   int64
}

func newScene(t *testing.T, cfg metrics.Config) *scene {
	t.Helper()
	s := &scene{t: t, registry: prometheus.NewPedanticRegistry(), book: rates.NewBook(time.Minute), now: began(), holds: true}
	s.collector = metrics.New(cfg, metrics.Deps{
		Newest: func() (metrics.Look, bool) {
			if s.look == nil {
				return metrics.Look{}, false
			}
			return *s.look, true
		},
		Holds: func() bool { return s.holds }, Skipped: func() int64 { return s.skipped }, Now: func() time.Time { return s.now },
	})
	s.registry.MustRegister(s.collector)
	return s
}

// publish makes a round the newest, 2 s before it is scraped.
func (s *scene) publish(round facts.Round) {
	s.look = &metrics.Look{Round: round, Snapshot: s.book.Add(round), At: round.At}
	s.collector.Observe(round)
	s.now = round.At.Add(2 * time.Second)
}

// series is all that a scrape shows, by name and labels, as name{label=value,…}.
func (s *scene) series() map[string]float64 {
	s.t.Helper()
	found, err := s.registry.Gather()
	require.NoError(s.t, err, "a scrape has everything or fails")
	series := map[string]float64{}
	for _, one := range found {
		for _, m := range one.GetMetric() {
			series[nameOf(one.GetName(), m)] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return series
}

func nameOf(name string, m *dto.Metric) string {
	labels := make([]string, 0, len(m.GetLabel()))
	for _, label := range m.GetLabel() {
		labels = append(labels, label.GetName()+"="+label.GetValue())
	}
	return strings.TrimPrefix(name, "redis_stream_coord_") + "{" + strings.Join(labels, ",") + "}"
}

// shows requires series with their values.
func (s *scene) shows(want map[string]float64) {
	s.t.Helper()
	got := s.series()
	for name, value := range want {
		require.Contains(s.t, got, name, "of %v", slices.Sorted(maps.Keys(got)))
		require.InDelta(s.t, value, got[name], 1e-6, name)
	}
}

// hides requires that no series begins so.
func (s *scene) hides(beginnings ...string) {
	s.t.Helper()
	for name, value := range s.series() {
		for _, beginning := range beginnings {
			require.False(s.t, strings.HasPrefix(name, beginning), "%s is %v and should not be there", name, value)
		}
	}
}

// roundOf is a round of the stream orders of two shards with the group billing, which has a
// member on the first shard.
func roundOf(number int64) facts.Round {
	at := began().Add(time.Duration(number) * 5 * time.Second)
	updated := protocol.Timestamp{Time: at.Add(-time.Second)}
	delivered, acked := "7-3", "7-1"
	member := protocol.MemberMetadata{
		MemberID: "one", State: protocol.MemberActive, RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 3,
		CurrentAssignment: []protocol.ShardID{{ShardIndex: 0}}, Revoking: []protocol.ShardID{{ShardIndex: 1}},
		LastHeartbeatAt: protocol.Timestamp{Time: at.Add(-900 * time.Millisecond)}, MemberLeaseExpiresAt: protocol.Timestamp{Time: at.Add(9 * time.Second)},
		ShardProgress: []protocol.ShardProgress{{LastDeliveredID: &delivered, LastAckedID: &acked, PendingCount: 2, UpdatedAt: &updated}},
	}
	return facts.Round{
		Number: number, At: at, Took: 30 * time.Millisecond,
		Groups: []facts.Group{groupOf("orders", "billing", member)},
		Streams: []facts.Stream{{Prefix: "orders", ShardCount: 2, Shards: []facts.Shard{
			shardOf("orders", "billing", 0, at, number), shardOf("orders", "billing", 1, at, number),
		}}},
	}
}

func groupOf(stream, group string, members ...protocol.MemberMetadata) facts.Group {
	held := map[string][]protocol.ShardID{}
	for _, member := range members {
		held[member.MemberID] = member.CurrentAssignment
	}
	return facts.Group{
		View: protocol.GroupResponse{
			StreamPrefix: stream, ConsumerGroup: group, State: protocol.GroupStable, GroupEpoch: 5, AssignmentEpoch: 4, ShardCount: 2,
		},
		Members:     members,
		Assignments: protocol.AssignmentsResponse{TargetAssignment: held, CurrentAssignments: held},
	}
}

// shardOf is a shard to which 10 entries are added each round, of which all but 4 were
// delivered, the oldest of them a second ago.
func shardOf(stream, group string, index int, at time.Time, round int64) facts.Shard {
	added, read, lag, memory := 100+10*round, 96+10*round, int64(4), int64(4096)
	first := "7-0"
	unread, last := id(at.Add(-time.Second)), id(at.Add(-10*time.Millisecond))
	delivered := id(at.Add(-2 * time.Second))
	return facts.Shard{
		Index: index, Key: stream + ":" + strconv.Itoa(index), At: at, Length: added, EntriesAdded: &added,
		FirstID: &first, LastID: &last, LastGeneratedID: &last, Memory: &memory,
		Groups: map[string]facts.ShardGroup{group: {
			LastDeliveredID: &delivered, EntriesRead: &read, Lag: &lag, Tail: &lag, FirstUnreadID: &unread, Pending: 1, OldestPendingID: &delivered,
		}},
	}
}

func id(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) + "-0" }
