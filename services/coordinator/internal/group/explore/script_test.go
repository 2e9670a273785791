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

func commands(script string) []string {
	var lines []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && line != "----" {
			lines = append(lines, line)
		}
	}
	return lines
}
