package explore_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// TestDueIsNeverLate walks at random and looks, after every event, one millisecond before
// what Due says: nothing may happen by time alone until then.
func TestDueIsNeverLate(t *testing.T) {
	t.Parallel()
	for _, setup := range []explore.Setup{
		troubled(explore.Crashes, explore.Twins, explore.BadReports, explore.FailOvers, explore.Slowness),
		reshaped(explore.Crashes, explore.Orders, explore.Unbars, explore.FailOvers, explore.LostShards),
	} {
		rapid.Check(t, func(t *rapid.T) {
			w, events := explore.WalkWith(setup, drawn{t}, (*explore.World).CheckDue)
			if w.Broken() != nil {
				t.Fatalf("%v\n%s", w.Broken(), explore.Explain(setup, events))
			}
		})
	}
}
