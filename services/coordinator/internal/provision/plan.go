package provision

import (
	"errors"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// ErrPlan comes when a plan's shards or groups make no sense.
var ErrPlan = errors.New("invalid provisioning plan")

// Start is where a new consumer group begins to read.
type Start string

// The starting positions, as XGROUP CREATE takes them.
const (
	// Earliest delivers everything the shard holds.
	Earliest Start = "0"
	// Latest delivers only what is added from now on.
	Latest Start = "$"
)

// Group is a consumer group that every shard of the plan should carry.
type Group struct {
	// Name of the Redis consumer group.
	Name string
	// Start counts only where the group is not there yet: an existing cursor is never
	// moved (field case F14).
	Start Start
}

// Plan is what a range of shards should look like. Make it with NewPlan.
type Plan struct {
	prefix   string
	from, to int
	groups   []Group
}

// NewPlan plans the groups on the shards from ≤ index < to of the stream prefix.
// An empty range is a plan with nothing to do. It fails with ErrPlan when the range
// runs backwards or below 0, when there is no group or one twice, or when a start is
// unknown, and with protocol.ErrInvalidName for a bad prefix or group name.
func NewPlan(prefix string, from, to int, groups ...Group) (Plan, error) {
	if err := protocol.CheckStreamPrefix(prefix, ""); err != nil {
		return Plan{}, err
	}
	if from < 0 || to < from {
		return Plan{}, fmt.Errorf("%w: shards from %d to %d", ErrPlan, from, to)
	}
	if len(groups) == 0 {
		return Plan{}, fmt.Errorf("%w: no group for stream %q", ErrPlan, prefix)
	}
	seen := map[string]bool{}
	for _, g := range groups {
		if err := protocol.CheckConsumerGroup(g.Name); err != nil {
			return Plan{}, err
		}
		if seen[g.Name] {
			return Plan{}, fmt.Errorf("%w: group %q twice", ErrPlan, g.Name)
		}
		if g.Start != Earliest && g.Start != Latest {
			return Plan{}, fmt.Errorf("%w: start %q of group %q", ErrPlan, g.Start, g.Name)
		}
		seen[g.Name] = true
	}
	return Plan{prefix: prefix, from: from, to: to, groups: slices.Clone(groups)}, nil
}

// Keys returns the shard keys of the plan in the order of their index.
func (p Plan) Keys() []string {
	keys := make([]string, 0, p.to-p.from)
	for i := p.from; i < p.to; i++ {
		keys = append(keys, routing.StreamKey(p.prefix, i))
	}
	return keys
}

// Groups returns the groups of the plan.
func (p Plan) Groups() []Group { return slices.Clone(p.groups) }
