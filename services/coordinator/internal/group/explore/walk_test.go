package explore_test

import (
	"math/rand/v2"
	"testing"
	"time"
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

type seeded struct{ r *rand.Rand }

func (c seeded) Pick(n int) int { return c.r.IntN(n) }

func TestTmp(t *testing.T) {
	for _, m := range explore.Mixes() {
		start := time.Now()
		visits := map[string]int{}
		events := 0
		for seed := range uint64(300) {
			w, trace := explore.Walk(m, seeded{rand.New(rand.NewPCG(seed, 1))})
			events += len(trace)
			for k, v := range w.Visits() {
				visits[k] += v
			}
			if w.Broken() != nil {
				t.Errorf("%s seed %d: %v after %d events", m.Name, seed, w.Broken(), len(trace))
				break
			}
		}
		fmt.Println(m.Name, time.Since(start), events, visits)
	}
	require.True(t, true)
}
