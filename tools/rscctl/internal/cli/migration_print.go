package cli

import (
	"fmt"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func printMigration(page *show.Page, stream string, m *protocol.Migration) {
	fields := []string{
		"resharding", m.ReshardingID,
		"stream", stream,
		"shards", counts(*m),
		"state", string(m.State),
		"requested by", show.Optional(m.RequestedBy),
		"reason", show.Optional(m.Reason),
		"began", show.Time(m.CreatedAt),
		"changed", show.Time(m.UpdatedAt),
		"rollback possible", yesNo(m.RollbackAllowed),
	}
	p := progressOf(*m)
	if p.Total > 0 {
		fields = append(fields, "done", fmt.Sprintf("%d of %d shards", p.Done, p.Total))
	}
	if p.TotalKeys > 0 {
		fields = append(fields, "shard keys made", fmt.Sprintf("%d of %d", p.ProvisionedKeys, p.TotalKeys))
	}
	if p.DrainingFrom != nil {
		fields = append(fields, "draining from", show.Time(*p.DrainingFrom))
	}
	if p.LastError != nil {
		fields = append(fields, "last error", *p.LastError)
	}
	page.Fields(fields...)
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
			ownerNames(shard.Owners), show.Optional(shard.Proof),
		})
	}
	page.Table([]string{
		"REMOVED", "PHASE", "REASON", "SINCE", "GROUP", "CONSUMER", "PENDING", "LAG", "FIRST UNREAD", "READERS", "PROOF",
	}, rows, "")
	for _, shard := range shards {
		if shard.RetiredKey != nil {
			page.Line("The entries of sealed shards are kept; those of shard %d as %s", shard.ShardIndex, *shard.RetiredKey)
			return
		}
	}
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
