package explore

import (
	"maps"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Input is one run of the core.
type Input struct {
	Group *group.Group
	group.Input
}

// Inputs returns what the core was run with in a walk.
func Inputs(setup Setup, choose Chooser) []Input {
	w := New(setup)
	var list []Input
	w.env.watch = func(g *group.Group, in group.Input) {
		in.Live = maps.Clone(in.Live) // the map is used again
		list = append(list, Input{g, in})
	}
	w.walk(choose, func(*World) {})
	return list
}
