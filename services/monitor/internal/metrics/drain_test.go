package metrics_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
)

// L4: what keeps a removed shard, in the order of the coordinator.
func TestRemovedShardsAreCountedByWhatKeepsThem(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]func(*facts.Shard, *facts.ShardGroup){
		"STREAM_MISSING": func(s *facts.Shard, _ *facts.ShardGroup) { s.Problem = facts.ProblemMissing },
		"UNREAD":         func(*facts.Shard, *facts.ShardGroup) {},
		"PENDING": func(_ *facts.Shard, g *facts.ShardGroup) {
			g.LastDeliveredID, g.FirstUnreadID, g.Lag, g.Tail = nil, nil, new(int64), new(int64)
		},
		"LAG_UNKNOWN": func(s *facts.Shard, g *facts.ShardGroup) {
			*g = facts.ShardGroup{LastDeliveredID: s.LastID}
		},
		"LAG_CONTRADICTS_TAIL": func(s *facts.Shard, g *facts.ShardGroup) {
			one := int64(1)
			*g = facts.ShardGroup{LastDeliveredID: s.LastID, Lag: &one, EntriesRead: &one}
		},
		"STILL_OWNED": func(s *facts.Shard, g *facts.ShardGroup) {
			*g = facts.ShardGroup{LastDeliveredID: s.LastID, Lag: new(int64), EntriesRead: s.EntriesAdded}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, metrics.Config{})
			round := roundOf(1)
			round.Streams[0].ShardCount, round.Groups[0].View.ShardCount = 1, 1
			round.Groups[0].Assignments.CurrentAssignments["one"] = append(round.Groups[0].Assignments.CurrentAssignments["one"], protocol.ShardID{ShardIndex: 1})
			shard := &round.Streams[0].Shards[1]
			group := shard.Groups["billing"]
			change(shard, &group)
			shard.Groups["billing"] = group
			s.publish(round)
			s.shows(map[string]float64{"drain_shards{group=billing,reason=" + reason + ",stream=orders}": 1})
			drains := 0
			for name := range s.series() {
				if len(name) > 6 && name[:6] == "drain_" {
					drains++
				}
			}
			require.Equal(t, 1, drains)
		})
	}
}

func TestShardsThatAreNotRemovedOrCannotBeReachedAreNoDrain(t *testing.T) {
	t.Parallel()
	s := newScene(t, metrics.Config{})
	s.publish(roundOf(1))
	s.hides("drain_")
	round := roundOf(2)
	round.Streams[0].ShardCount, round.Groups[0].View.ShardCount = 1, 1
	round.Streams[0].Shards[1].Problem = facts.ProblemUnreachable
	s.publish(round)
	s.hides("drain_")
}
