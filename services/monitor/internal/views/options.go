package views

import (
	"slices"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// StreamOptions offers the streams that have a group, each once, sorted; never nil.
func StreamOptions(round facts.Round) []protocol.GrafanaOptionRow {
	prefixes := make([]string, 0, len(round.Groups))
	for _, g := range round.Groups {
		prefixes = append(prefixes, g.View.StreamPrefix)
	}
	slices.Sort(prefixes)
	options := []protocol.GrafanaOptionRow{}
	for _, prefix := range slices.Compact(prefixes) {
		options = append(options, protocol.GrafanaOptionRow{Text: prefix, Value: prefix})
	}
	return options
}

// GroupOptions offers the groups of a stream, of all where stream is empty; never nil.
func GroupOptions(round facts.Round, stream string) []protocol.GrafanaOptionRow {
	options := []protocol.GrafanaOptionRow{}
	for _, g := range matching(round, stream, "") {
		options = append(options, protocol.GrafanaOptionRow{
			Text: g.View.StreamPrefix + " / " + g.View.ConsumerGroup, Value: g.View.ConsumerGroup,
		})
	}
	return options
}

// ShardOptions offers the shards of a group; empty, never nil, where there is no such group.
func ShardOptions(round facts.Round, stream, group string) []protocol.GrafanaOptionRow {
	options := []protocol.GrafanaOptionRow{}
	g, found := find(round, stream, group)
	if !found {
		return options
	}
	for _, shard := range shardsOf(round, rates.Snapshot{}, g) {
		options = append(options, protocol.GrafanaOptionRow{Text: label(shard.Index), Value: strconv.Itoa(shard.Index)})
	}
	return options
}
