package explore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// TestEqualKeysGoOnEqually: worlds that were reached in different ways and have the same key
// have the same events, and each leads to the same key again. Without it a search would take
// for known what it has not seen.
func TestEqualKeysGoOnEqually(t *testing.T) {
	t.Parallel()
	setups := append(explore.Searches(), explore.Shared(), explore.Large())
	for _, m := range explore.Mixes() {
		switch m.Name {
		case "scale, all", "one shard, all", "old clients, lost", "two groups", "two groups, all", "corrupt", "used shards",
			"stale producers", "stale producers, stream falls back":
			m.Pauses = setups[0].Pauses
			setups = append(setups, m)
		}
	}
	for _, setup := range setups {
		t.Run(setup.Name, func(t *testing.T) {
			t.Parallel()
			pairs, level := 0, []*explore.World{explore.New(setup)}
			known := map[string]*explore.World{}
			for len(known) < min(*maxStates/10, 1500) {
				var next []*explore.World
				for _, w := range level {
					for _, e := range w.Events(nil) {
						child := w.Clone()
						if !child.Do(e) {
							continue
						}
						key := string(child.AppendKey(nil))
						if other, found := known[key]; found {
							pairs++
							sameFuture(t, other, child)
							continue
						}
						known[key] = child
						next = append(next, child)
					}
				}
				level = next
			}
			require.Greater(t, pairs, 20)
		})
	}
}

func sameFuture(t *testing.T, a, b *explore.World) {
	t.Helper()
	as, bs := a.Events(nil), b.Events(nil)
	require.Len(t, bs, len(as))
	for i := range as {
		one, two := a.Clone(), b.Clone()
		require.Equal(t, one.Do(as[i]), two.Do(bs[i]))
		require.Equal(t, one.Broken() == nil, two.Broken() == nil)
		same := string(one.AppendKey(nil)) == string(two.AppendKey(nil))
		require.True(t, same, "they part by %v:\n%s\n%s", as[i], one, two)
	}
}
