package metrics

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// drainFamilies tell how far removed shards are (protocol L3 to L6).
type drainFamilies struct{ shards family }

func newDrainFamilies(f *families) drainFamilies {
	return drainFamilies{f.gauge("drain_shards",
		"Removed shards that are not sealed yet, by what keeps them as far as this group is concerned; no series without one.",
		labelStream, labelGroup, labelReason)}
}

func (f drainFamilies) show(out scrape, g *facts.Group, offsets protocol.StreamShardOffsetsResponse) {
	reasons := make(map[protocol.DrainReason]int)
	for i := range offsets.Shards {
		one := &offsets.Shards[i]
		if one.Shard.ShardIndex < g.View.ShardCount {
			continue
		}
		if reason, known := drainReason(one); known {
			reasons[reason]++
		}
	}
	for reason, count := range reasons {
		out.put(f.shards, float64(count), g.View.StreamPrefix, g.View.ConsumerGroup, string(reason))
	}
}

// drainReason says what keeps a removed shard, in the order of the coordinator (L4); false
// where the shard could not be observed.
func drainReason(one *protocol.StreamShardOffset) (protocol.DrainReason, bool) {
	if one.Problem != nil {
		switch facts.Problem(*one.Problem) {
		case facts.ProblemMissing, facts.ProblemWrongType:
			return protocol.DrainStreamMissing, true
		case facts.ProblemGroupMissing:
			return protocol.DrainGroupMissing, true
		case facts.ProblemUnreachable:
			return "", false
		}
		return "", false
	}
	switch {
	case one.Lag != nil && *one.Lag > 0 || one.OldestUnreadAgeMs != nil:
		return protocol.DrainUnread, true
	case one.PendingCount > 0:
		return protocol.DrainPending, true
	case one.LagReason != nil && *one.LagReason == protocol.LagContradictsTail:
		return protocol.DrainLagContradicts, true
	case one.Lag == nil || one.LagReason != nil:
		return protocol.DrainLagUnknown, true
	default:
		return protocol.DrainStillOwned, true
	}
}
