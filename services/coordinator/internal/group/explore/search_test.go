package explore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// TestSearch goes breadth first through X1–X6, each to its end or to the bound.
func TestSearch(t *testing.T) {
	t.Parallel()
	setups := append(explore.Searches(), explore.Shared())
	if *large > 0 {
		setups = append(setups, explore.Large())
	}
	for _, setup := range setups {
		bound := *maxStates
		if setup.Name == explore.Shared().Name {
			bound /= 4
		}
		if setup.Name == explore.Large().Name {
			bound = *large
		}
		t.Run(setup.Name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			r := explore.Search(setup, bound, func() bool { return over(start) })
			if *figures {
				elapsed := time.Since(start)
				fmt.Printf("%s: %d states, complete %v, depth %d, %d events, %d steps of the core, %d continued fairly, %.0f states/s, %v\n",
					setup.Name, r.States, r.Complete, r.Depth, r.Events, r.Steps, r.Fair, float64(r.States)/elapsed.Seconds(),
					elapsed.Round(time.Second))
			}
			if r.Broken != nil {
				w, _ := explore.Replay(setup, r.Trace, setup.Fair)
				require.NotNil(t, w.Broken(), "a trace of the search does not come again: %v\n%v", r.Broken, r.Trace)
				report(t, setup, w, r.Trace, "bfs:"+setup.Name, 0)
			}
			require.True(t, r.Complete || r.States >= bound || over(start), "fewer states than planned")
		})
	}
}
