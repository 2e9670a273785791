package group_test

import (
	"flag"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// walks is how many walks TestWalks makes of each mix; more find rarer faults.
var walks = flag.Int("walks", 150, "random walks of each mix")

// seeded is a chooser for long runs.
type seeded struct{ r *rand.Rand }

func newSeeded(seed uint64) seeded { return seeded{rand.New(rand.NewPCG(seed, 1))} }

func (c seeded) pick(_ string, n int) int { return c.r.IntN(n) }

// everyFault is all that a walk may be troubled by without promising less.
func everyFault() []string {
	return []string{"duplicates", "crashes", "twins", "bad reports", "coordinator crashes", "failovers", "clock jumps"}
}

// mixes are the walks of TestWalks. Few faults lead deeper, many find what meets.
func mixes() map[string]mix {
	all := map[string]mix{
		"plain":               {shards: 2, steps: 80, processes: 3, fair: true},
		"duplicates":          {shards: 2, steps: 80, processes: 3, faults: []string{"duplicates"}, fair: true},
		"crashes and twins":   {shards: 2, steps: 100, processes: 4, faults: []string{"duplicates", "crashes", "twins"}, fair: true},
		"bad reports":         {shards: 2, steps: 80, processes: 3, faults: []string{"bad reports", "duplicates"}, fair: true},
		"coordinator crashes": {shards: 2, steps: 80, processes: 3, faults: []string{"coordinator crashes", "crashes"}, fair: true},
		"old clients":         {shards: 2, steps: 100, processes: 3, faults: []string{"old clients", "duplicates", "crashes", "twins"}, fair: true},
		"lost writes":         {shards: 2, steps: 80, processes: 3, faults: []string{"failovers", "duplicates"}, fair: true},
		"clock":               {shards: 2, steps: 80, processes: 3, faults: []string{"clock jumps", "crashes"}, fair: true},
		"slow handlers":       {shards: 2, steps: 50, processes: 3, faults: []string{"slow handlers", "duplicates"}, fair: true},
		"used shards":         {shards: 2, steps: 60, processes: 3, faults: []string{"used-shards"}, fair: true},
		"old clients, lost":   {shards: 2, steps: 80, processes: 3, faults: []string{"old clients", "failovers", "duplicates"}, fair: true},
		"old clients, all":    {shards: 2, steps: 100, processes: 4, faults: append(everyFault(), "old clients"), fair: true},
		"one shard, all":      {shards: 1, steps: 80, processes: 3, faults: everyFault(), fair: true},
		"three shards, all":   {shards: 3, steps: 120, processes: 4, faults: everyFault(), fair: true},
	}
	maps.Copy(all, reshardingMixes())
	return all
}

// reshardingMixes are the walks in which the stream's record changes.
func reshardingMixes() map[string]mix {
	return map[string]mix{
		"scale": {shards: 2, most: 4, steps: 200, processes: 3, faults: []string{"scale", "crashes"}, fair: true},
		"scale and rollback": {
			shards: 3, most: 4, steps: 200, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "duplicates"},
		},
		"scale, old clients": {
			shards: 2, most: 3, steps: 160, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "old clients", "duplicates", "crashes", "twins"},
		},
		"scale, slow handlers": {
			shards: 2, most: 3, steps: 80, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "slow handlers"},
		},
		"scale, lost writes": {
			shards: 2, most: 3, steps: 200, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "failovers", "duplicates", "coordinator crashes"},
		},
		"scale, stream falls back": {
			shards: 2, most: 3, steps: 200, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "stream falls back", "coordinator crashes"},
		},
		"scale, lost shards": {
			shards: 2, most: 3, steps: 160, processes: 3, fair: true,
			faults: []string{"scale", "rollbacks", "lost shards", "crashes"},
		},
		"orders": {
			shards: 2, steps: 100, processes: 3, fair: true,
			faults: []string{"orders", "unbar", "duplicates", "crashes", "bad reports"},
		},
		"lost liveness": {
			shards: 2, steps: 100, processes: 3, fair: true,
			faults: []string{"lost liveness", "orders", "bad reports", "duplicates", "crashes"},
		},
		"scale, all": {
			shards: 2, most: 4, steps: 200, processes: 4, fair: true,
			faults: append(everyFault(), "scale", "rollbacks", "stream falls back", "lost shards", "lost liveness", "orders"),
		},
	}
}

// TestWalks makes many random walks of each mix with fixed seeds and checks every
// invariant after every event. It is the broad search; the property tests shrink.
func TestWalks(t *testing.T) {
	t.Parallel()
	for name, m := range mixes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(*walks) {
				s := newSim(m, newSeeded(seed))
				s.walk()
				require.Empty(t, s.broken, "seed %d\n%s", seed, s.report())
			}
		})
	}
}
