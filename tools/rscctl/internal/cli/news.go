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

func drainNews(before, now []protocol.ShardDrain) []string {
	had := map[int]string{}
	for _, shard := range before {
		had[shard.ShardIndex] = drainWords(shard)
	}
	var lines []string
	for _, shard := range now {
		if words := drainWords(shard); words != had[shard.ShardIndex] {
			lines = append(lines, words)
		}
	}
	return lines
}

// drainWords tells how far a removed shard is, and what keeps it.
func drainWords(shard protocol.ShardDrain) string {
	line := fmt.Sprintf("  shard %d %s", shard.ShardIndex, shard.Phase)
	if shard.Reason != nil {
		line += ": " + string(*shard.Reason)
	}
	if shard.Reason != nil && shard.BlockingGroup != nil {
		line += " by group " + *shard.BlockingGroup
	}
	if shard.Reason != nil && shard.BlockingConsumer != nil {
		line += ", consumer " + *shard.BlockingConsumer
	}
	if shard.Proof != nil {
		line += ", proof " + string(*shard.Proof)
	}
	return line
}
