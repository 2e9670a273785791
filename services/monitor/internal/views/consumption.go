package views

import (
	"cmp"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Consumption shows what the members of a group say they have read, by member and shard;
// false where there is no such group.
func Consumption(round facts.Round, stream, group string) (protocol.ConsumptionProgressResponse, bool) {
	g, found := find(round, stream, group)
	if !found {
		return protocol.ConsumptionProgressResponse{}, false
	}
	progress := []protocol.ConsumerShardProgress{}
	for _, m := range g.Members {
		for _, p := range m.ShardProgress {
			shown := protocol.ConsumerShardProgress{
				StreamPrefix:    stream,
				ConsumerGroup:   group,
				MemberID:        m.MemberID,
				MemberName:      m.MemberName,
				MemberState:     m.State,
				Shard:           p.Shard,
				StreamKey:       p.StreamKey,
				LastDeliveredID: p.LastDeliveredID,
				LastAckedID:     p.LastAckedID,
				PendingCount:    p.PendingCount,
				UpdatedAt:       p.UpdatedAt,
			}
			if p.Error != "" {
				shown.Error = &p.Error
			}
			progress = append(progress, shown)
		}
	}
	slices.SortStableFunc(progress, func(a, b protocol.ConsumerShardProgress) int {
		return cmp.Or(cmp.Compare(a.MemberID, b.MemberID), cmp.Compare(a.Shard.ShardIndex, b.Shard.ShardIndex))
	})
	return protocol.ConsumptionProgressResponse{Progress: progress}, true
}
