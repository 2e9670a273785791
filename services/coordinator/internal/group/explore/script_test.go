package explore_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// TestATraceIsToldAsAScriptOfTheCore: what can be said in its language is said.
func TestATraceIsToldAsAScriptOfTheCore(t *testing.T) {
	t.Parallel()
	setup := explore.Mix("script", 1, 2, explore.FailOvers)
	setup.Fair = false
	text := explore.Explain(setup, []explore.Event{
		{Kind: explore.Start, Arg: 0, Life: 1},
		{Kind: explore.RoundTrip, Life: 1, Pod: 1},
		{Kind: explore.Pause, Arg: 2},
		{Kind: explore.Send, Life: 1},
		{Kind: explore.Deliver, Life: 1, Mode: explore.Later},
		{Kind: explore.FailOver, Arg: 1},
		{Kind: explore.Conclude},
	})
	_, script, found := strings.Cut(text, "script of the core:\n")
	require.True(t, found)
	require.Equal(t, []string{
		"config stale-retention=30s rebalance-timeout=20s",
		"identity store-0",
		"group shards=1",
		"save",
		"beat a as=a1 epoch=0 ver=0 id=r1 own=none inc=a1 seq=1",
		"pass 3000ms unserved",
		"save",
		"restore 1",
		"identity store-1",
		"save",
		"stale 2",
		"a as=a1 epoch=1 ver=2 id=r2 own=0 inc=a1 seq=2 lin=L1",
		"save",
		"beat a as=a1 epoch=1 ver=2 id=r2 own=0 inc=a1 seq=2 lin=L1",
	}, commands(script))
}

// TestEachGroupHasItsOwnScript: the language knows one group, so that a trace of two is told
// once for each.
func TestEachGroupHasItsOwnScript(t *testing.T) {
	t.Parallel()
	setup := explore.TwoGroups(explore.Mix("script", 1, 1))
	setup.Fair = false
	text := explore.Explain(setup, []explore.Event{
		{Kind: explore.Start, Arg: 0, Life: 1},
		{Kind: explore.Start, Group: 1, Arg: 1, Life: 2},
		{Kind: explore.RoundTrip, Group: 1, Life: 2},
		{Kind: explore.RoundTrip, Life: 1},
	})
	_, scripts, found := strings.Cut(text, "script of the core, group g by itself:\n")
	require.True(t, found)
	first, second, found := strings.Cut(scripts, "script of the core, group h by itself:\n")
	require.True(t, found)
	require.Contains(t, first, "beat a as=a1")
	require.NotContains(t, first, "beat b")
	require.Contains(t, second, "beat b as=b2")
	require.NotContains(t, second, "beat a")
	require.Contains(t, text, "h: b2 starts")
}

func commands(script string) []string {
	var lines []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && line != "----" {
			lines = append(lines, line)
		}
	}
	return lines
}
