package cli

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// news tells what is new in a resharding since it was before, one line each. Numbers that
// change all the time, such as the lag, are no news.
func news(before, now protocol.Migration) []string {
	var lines []string
	was, is := progressOf(before), progressOf(now)
	if before.State != now.State || was.Done != is.Done || was.Total != is.Total {
		lines = append(lines, summary(now))
	}
	if is.LastError != nil && show.Optional(was.LastError) != *is.LastError {
		lines = append(lines, "  trying again after: "+*is.LastError)
	}
	lines = append(lines, groupNews(was.Groups, is.Groups)...)
	return append(lines, drainNews(was.Shards, is.Shards)...)
}

func progressOf(m protocol.Migration) protocol.MigrationProgress {
	if m.Progress == nil {
		return protocol.MigrationProgress{}
	}
	return *m.Progress
}

// summary tells in one line how far a resharding is.
func summary(m protocol.Migration) string {
	line := fmt.Sprintf("%s  %s shards  %s", m.ReshardingID, counts(m), m.State)
	if m.Progress != nil && m.Progress.Total > 0 {
		line += fmt.Sprintf("  %d of %d done", m.Progress.Done, m.Progress.Total)
	}
	return line
}

// without tells of how many groups the layout is waited for (L2), and is empty for none.
func without(m protocol.Migration) string {
	late := 0
	for _, group := range progressOf(m).Groups {
		if !group.Copied {
			late++
		}
	}
	switch {
	case late == 0 || m.State == protocol.MigrationPreparing:
		return ""
	case late == 1:
		return ", 1 group without the layout"
	default:
		return fmt.Sprintf(", %d groups without the layout", late)
	}
}

func groupNews(before, now []protocol.GroupProgress) []string {
	had := map[string]bool{}
	for _, group := range before {
		had[group.ConsumerGroup] = group.Copied
	}
	var lines []string
	for _, group := range now {
		if group.Copied && !had[group.ConsumerGroup] {
			lines = append(lines, "  group "+group.ConsumerGroup+" has the layout")
		}
	}
	return lines
}

// drainNews folds the shards of which the same is to be told, as there may be thousands.
func drainNews(before, now []protocol.ShardDrain) []string {
	had := map[int]string{}
	for _, shard := range before {
		had[shard.ShardIndex] = drainWords(shard)
	}
	var order []string
	found := map[string][]int{}
	for _, shard := range now {
		words := drainWords(shard)
		if words == had[shard.ShardIndex] {
			continue
		}
		if found[words] == nil {
			order = append(order, words)
		}
		found[words] = append(found[words], shard.ShardIndex)
	}
	lines := make([]string, 0, len(order))
	for _, words := range order {
		lines = append(lines, "  shard "+show.Ranges(found[words])+" "+words)
	}
	return lines
}

// drainWords tells how far a removed shard is, and what keeps it.
func drainWords(shard protocol.ShardDrain) string {
	words := string(shard.Phase)
	if shard.Reason != nil {
		words += ": " + string(*shard.Reason)
	}
	if shard.Reason != nil && shard.BlockingGroup != nil {
		words += " by group " + *shard.BlockingGroup
	}
	if shard.Reason != nil && shard.BlockingConsumer != nil {
		words += ", consumer " + *shard.BlockingConsumer
	}
	if shard.Proof != nil {
		words += ", proof " + string(*shard.Proof)
	}
	return words
}
