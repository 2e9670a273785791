package cli

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func printMigration(page *show.Page, stream string, m *protocol.Migration) {
	page.Fields(
		"resharding", m.ReshardingID,
		"stream", stream,
		"shards", counts(*m),
		"state", string(m.State),
		"requested by", show.Optional(m.RequestedBy),
		"reason", show.Optional(m.Reason),
		"began", show.Time(m.CreatedAt),
		"changed", show.Time(m.UpdatedAt),
		"rollback possible", yesNo(m.RollbackAllowed),
	)
	p := m.Progress
	if p == nil {
		return
	}
	page.Fields(
		"done", strconv.Itoa(p.Done)+" of "+strconv.Itoa(p.Total)+" shards",
		"keys made", strconv.Itoa(p.ProvisionedKeys)+" of "+strconv.Itoa(p.TotalKeys),
		"draining from", show.OptionalTime(p.DrainingFrom),
		"last error", show.Optional(p.LastError),
	)
	printGroupProgress(page, p.Groups)
	printDrains(page, p.Shards)
}

func printGroupProgress(page *show.Page, groups []protocol.GroupProgress) {
	if len(groups) == 0 {
		return
	}
	page.Blank()
	rows := make([][]string, 0, len(groups))
	for _, group := range groups {
		rows = append(rows, []string{group.ConsumerGroup, yesNo(group.Copied), yesNo(group.Settled)})
	}
	page.Table([]string{"GROUP", "HAS THE LAYOUT", "SETTLED"}, rows, "")
}

func printDrains(page *show.Page, shards []protocol.ShardDrain) {
	if len(shards) == 0 {
		return
	}
	page.Blank()
	rows := make([][]string, 0, len(shards))
	for _, shard := range shards {
		rows = append(rows, []string{
			strconv.Itoa(shard.ShardIndex), string(shard.Phase), show.Optional(shard.Reason), show.OptionalTime(shard.Since),
			show.Optional(shard.BlockingGroup), show.Optional(shard.BlockingConsumer),
			show.Count(shard.Pending), show.Count(shard.Lag), show.Optional(shard.TailID),
			ownerNames(shard.Owners), show.Optional(shard.Proof), show.Optional(shard.RetiredKey),
		})
	}
	page.Table([]string{
		"REMOVED", "PHASE", "REASON", "SINCE", "GROUP", "CONSUMER", "PENDING", "LAG", "FIRST UNREAD", "READERS", "PROOF", "RETIRED KEY",
	}, rows, "")
}

func ownerNames(owners []protocol.ShardOwner) string {
	names := make([]string, 0, len(owners))
	for _, owner := range owners {
		names = append(names, owner.ConsumerGroup+"/"+owner.MemberID)
	}
	return show.Names(names)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
