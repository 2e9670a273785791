package explore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// tally adds up what walks of several goroutines have met.
type tally struct {
	mu                   sync.Mutex
	visits               map[string]int
	walks, events, steps int
	broken, limited      atomic.Bool
}

func newTally() *tally { return &tally{visits: map[string]int{}} }

func (t *tally) add(w *explore.World, events int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for what, n := range w.Visits() {
		t.visits[what] += n
	}
	t.walks++
	t.events += events
	t.steps += w.Steps()
}

// TestWalks makes random walks of every mix, spread over the seeds, and checks every
// invariant after every event and on the fair schedule at the end.
func TestWalks(t *testing.T) {
	t.Parallel()
	list := make([]uint64, 0, *seeds+1)
	for seed := range *seeds {
		list = append(list, seed+1)
	}
	switch {
	case *extraSeed > 0:
		list = append(list, uint64(*extraSeed))
	case *extraSeed == 0:
		list = append(list, rand.Uint64()>>16)
	}
	each := (*walks + len(list) - 1) / len(list)
	sum, start := newTally(), time.Now()
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range list {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				walkSeed(t, seed, each, time.Now(), sum)
			})
		}
	})
	if *figures {
		elapsed := time.Since(start)
		fmt.Printf("walks: %d of %d, seeds %v, %d events, %d steps of the core, %.0f steps/s, %v\n", sum.walks,
			each*len(list), list, sum.events, sum.steps, float64(sum.steps)/elapsed.Seconds(), elapsed.Round(time.Second))
	}
	switch {
	case t.Failed():
	case sum.limited.Load(): // what was not run is printed
		checkVisits(t, sum.visits, 0)
	default:
		require.Equal(t, each*len(list), sum.walks, "fewer walks than planned")
		checkVisits(t, sum.visits, *minVisits)
	}
}

func walkSeed(t *testing.T, seed uint64, n int, start time.Time, sum *tally) {
	t.Helper()
	mixes := explore.Mixes()
	for walk := *fromWalk; walk < *fromWalk+uint64(n); walk++ {
		if over(start) {
			sum.limited.Store(true)
			fmt.Printf("seed %d: go on with -from %d\n", seed, walk)
			return
		}
		if sum.broken.Load() && *onlyFirst {
			return
		}
		setup := mixes[(walk+seed)%uint64(len(mixes))]
		setup.Depth = setup.Depth * *depth / 60
		w, events := explore.Walk(setup, newSeeded(seed, walk))
		sum.add(w, len(events))
		if w.Broken() != nil {
			sum.broken.Store(true)
			report(t, setup, w, events, "walk:"+setup.Name, seed)
			return
		}
	}
}

// report prints what was found, shrunk, and fails the test.
func report(t *testing.T, setup explore.Setup, w *explore.World, events []explore.Event, search string, seed uint64) {
	t.Helper()
	found := *w.Broken()
	events = explore.Shrink(setup, events, found.Invariant)
	fmt.Fprintf(os.Stdout, "VIOLATION %s trace-length=%d search=%s seed=%d\n", found.Invariant, len(events), search, seed)
	t.Fatalf("%s: %s\n%s", found.Invariant, found.What, explore.Explain(setup, events))
}
