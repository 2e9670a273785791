package observe

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// maxShards bounds what is believed of a stream's size.
const maxShards = 1 << 16

// watched is a stream that is to be observed.
type watched struct {
	prefix string
	groups []string // the Redis consumer groups, sorted
	shards int      // how many producers write to
	reads  int      // how many are read, removed ones included
}

// streamsOf returns the streams of groups, which are sorted.
func streamsOf(groups []protocol.GroupSnapshot) []watched {
	var streams []watched
	for _, g := range groups {
		if len(streams) == 0 || streams[len(streams)-1].prefix != g.Group.StreamPrefix {
			streams = append(streams, watched{prefix: g.Group.StreamPrefix})
		}
		s := &streams[len(streams)-1]
		s.groups = append(s.groups, g.Group.ConsumerGroup)
		s.shards = min(maxShards, max(s.shards, g.Group.ShardCount))
		s.reads = min(maxShards, max(s.reads, g.ReadCount, s.shards))
	}
	return streams
}

// target is a shard to be observed, and what is seen of it.
type target struct {
	shard  *facts.Shard
	groups []string // those to look for, shared and not changed
	asked  *asked
}

// planOf returns the streams with nothing known of their shards in a round, and those shards.
func planOf(groups []protocol.GroupSnapshot, number int64) ([]facts.Stream, []target) {
	plan := streamsOf(groups)
	streams, targets := make([]facts.Stream, len(plan)), []target{}
	for i, s := range plan {
		streams[i] = facts.Stream{Prefix: s.prefix, ShardCount: s.shards, Shards: make([]facts.Shard, s.reads)}
		for index := range streams[i].Shards {
			shard := &streams[i].Shards[index]
			shard.Index, shard.Key = index, routing.StreamKey(s.prefix, index)
			shard.Slot = routing.Slot(shard.Key)
			targets = append(targets, target{shard, s.groups, &asked{number: number, groups: map[string]topic{}}})
		}
	}
	return streams, targets
}
