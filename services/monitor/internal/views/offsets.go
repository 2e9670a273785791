package views

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// Offsets shows the shards of a group with what is unread on them; false where there is no
// such group.
func Offsets(round facts.Round, snap rates.Snapshot, stream, group string) (protocol.StreamShardOffsetsResponse, bool) {
	g, found := find(round, stream, group)
	if !found {
		return protocol.StreamShardOffsetsResponse{}, false
	}
	shards := shardsOf(round, snap, g)
	sums := sumUp(round, g, shards)
	response := protocol.StreamShardOffsetsResponse{
		StreamPrefix:          stream,
		ConsumerGroup:         group,
		Shards:                make([]protocol.StreamShardOffset, 0, len(shards)),
		TotalStreamLength:     sums.length,
		TotalPendingCount:     sums.pending,
		TotalLag:              sums.lag,
		TotalMemoryUsageBytes: sums.memory,
		MemoryUsageKnown:      sums.memoryKnown,
		ProducedPerSecond:     sums.produced,
		ConsumedPerSecond:     sums.consumed,
		GroupSignals:          sums.signals,
	}
	owners := ownersOf(g)
	for _, shard := range shards {
		response.Shards = append(response.Shards, offsetOf(g, owners, shard))
	}
	return response, true
}

func offsetOf(g *facts.Group, owners owners, s shard) protocol.StreamShardOffset {
	delivered, acked := owners.progress(s.Index)
	return protocol.StreamShardOffset{
		StreamPrefix:            g.View.StreamPrefix,
		ConsumerGroup:           g.View.ConsumerGroup,
		Shard:                   protocol.ShardID{ShardIndex: s.Index},
		StreamKey:               s.Key,
		RedisSlot:               routing.Slot(s.Key),
		RedisNodeEndpoint:       s.Node.Endpoint,
		RedisNodeID:             s.Node.ID,
		RedisSlotRangeStart:     s.Node.SlotFirst,
		RedisSlotRangeEnd:       s.Node.SlotLast,
		StreamLength:            s.Length,
		FirstRecordID:           s.FirstID,
		LastRecordID:            s.LastID,
		LastGeneratedID:         s.LastGeneratedID,
		GroupLastDeliveredID:    s.group.LastDeliveredID,
		ConsumerLastDeliveredID: delivered,
		ConsumerLastAckedID:     acked,
		PendingCount:            s.group.Pending,
		Lag:                     s.rate.Lag.Value,
		MemoryUsageBytes:        s.Memory,
		OwnerMemberIDs:          append([]string{}, owners.current[s.Index]...),
		LagKnown:                s.rate.Lag.Known(),
		ProducedPerSecond:       s.rate.ProducedPerSecond,
		ConsumedPerSecond:       s.rate.ConsumedPerSecond,
		ShardSignals:            s.signals(),
	}
}
