package observe

import "github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"

// kept is what was last learnt of a shard that is not asked for in every round.
type kept struct {
	memory    *int64
	consumers map[string][]facts.Consumer // by group
}

// keep remembers what was learnt in this round and fills in what was not asked. A shard
// that is out of reach keeps what it had; one that is gone, or no stream, loses it.
func (o *Observer) keep(targets []target) {
	next := make(map[string]kept, len(targets))
	for _, t := range targets {
		before, seen := o.kept[t.shard.Key]
		switch t.shard.Problem {
		case "":
			next[t.shard.Key] = completed(t.shard, before)
		case facts.ProblemUnreachable:
			if seen {
				next[t.shard.Key] = before
			}
		case facts.ProblemMissing, facts.ProblemWrongType, facts.ProblemGroupMissing:
		}
	}
	o.kept = next
}

// completed fills in a shard from what was known before, and returns what is known now.
func completed(shard *facts.Shard, before kept) kept {
	if shard.Memory == nil {
		shard.Memory = before.memory
	}
	now := kept{memory: shard.Memory, consumers: make(map[string][]facts.Consumer, len(shard.Groups))}
	for name, group := range shard.Groups {
		if group.Consumers == nil {
			group.Consumers = before.consumers[name]
			shard.Groups[name] = group
		}
		now.consumers[name] = group.Consumers
	}
	return now
}
