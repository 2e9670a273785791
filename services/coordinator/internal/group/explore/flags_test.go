package explore_test

import (
	"flag"
	"math/rand/v2"
	"time"
)

// The bounds of a run; `make explore` sets higher ones.
var (
	maxStates = flag.Int("states", 3000, "states of each breadth-first search, if it does not end before")
	walks     = flag.Int("walks", 600, "random walks in all")
	seeds     = flag.Uint64("seeds", 8, "fixed seeds of the walks, from 1")
	extraSeed = flag.Int64("seed", 0, "one more seed: 0 draws one, -1 is none")
	depth     = flag.Int("depth", 60, "events of a walk; walks with resharding make twice as many")
	large     = flag.Int("large", 0, "states of the nightly search N1, 0 for none")
	fromWalk  = flag.Uint64("from", 0, "first walk of each seed, to go on with a run that was limited")
	doubles   = flag.Int("doubles", 200, "walks beside a real store in memory; a quarter of that beside Redis")
	onlyFirst = flag.Bool("first", false, "stop everything at the first violation")
	limit     = flag.Duration("limit", 0, "time limit of each search, and of the walks of each seed, 0 for none; what was not run is printed")
	minVisits = flag.Int("visits", 0, "how often each situation that matters must have been met")
	figures   = flag.Bool("figures", false, "print what was reached, and how fast")
)

// seeded is a chooser for long runs.
type seeded struct{ r *rand.Rand }

func newSeeded(seed, walk uint64) seeded { return seeded{rand.New(rand.NewPCG(seed, walk))} }

func (c seeded) Pick(n int) int { return c.r.IntN(n) }

// over tells whether a time limit has been reached.
func over(start time.Time) bool { return *limit > 0 && time.Since(start) > *limit }
