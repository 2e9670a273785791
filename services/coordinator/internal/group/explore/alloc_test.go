package explore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// mostAllocs is what a run of the core may allocate in the mean (reliability section 1).
const mostAllocs = 20

// TestTheCoreAllocatesLittle runs the steps of walks again and counts: in the mean over the
// steps of a walk, and in the mean over those that make no commit.
func TestTheCoreAllocatesLittle(t *testing.T) { //nolint:paralleltest // allocations are counted for the whole process
	var all, steady []explore.Input
	for _, setup := range explore.Mixes() {
		for walk := range uint64(4) {
			for _, in := range explore.Inputs(setup, newSeeded(5, walk)) {
				all = append(all, in)
				if group.Step(explore.Timing(), in.Group, in.Input).Next == nil {
					steady = append(steady, in)
				}
			}
		}
	}
	for name, inputs := range map[string][]explore.Input{"all": all, "without a commit": steady} {
		allocs := testing.AllocsPerRun(1, func() {
			for _, in := range inputs {
				group.Step(explore.Timing(), in.Group, in.Input)
			}
		}) / float64(len(inputs))
		if *figures {
			fmt.Printf("core: %.1f allocations a step, %s of %d steps of walks\n", allocs, name, len(inputs))
		}
		require.LessOrEqual(t, allocs, float64(mostAllocs), name)
	}
}
