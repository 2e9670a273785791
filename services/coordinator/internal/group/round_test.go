package group_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// M1: at most 64 lineages are kept as known, the latest ones; the group goes on as usual.
func TestM1AtMost64LineagesAreKnown(t *testing.T) {
	t.Parallel()
	w := newField(t, 1)
	w.beat("A")
	for i := range 2 * group.MaxKnown {
		before := w.g.Lineage
		w.identity = fmt.Sprintf("store-%d", i+2)
		w.apply(nil, w.snap())
		require.NotEmpty(t, w.g.Known)
		require.Equal(t, before, w.g.Known[len(w.g.Known)-1], "the lineage before is the latest known")
		require.NotEqual(t, before, w.g.Lineage)
		require.LessOrEqual(t, len(w.g.Known), group.MaxKnown)
	}
	require.Len(t, w.g.Known, group.MaxKnown)
}

// M1, M2: evidence of several kinds in one step opens one round, with one new lineage and
// one epoch for each live member.
func TestM2OneStepOpensOneRound(t *testing.T) {
	t.Parallel()
	w := newField(t, 2)
	w.beat("A")
	w.beat("B")
	w.identity, w.jumped = "store-2", true
	before := w.g
	out := group.Step(w.cfg, w.g, group.Input{
		Now: w.now, Fresh: true, Live: w.live, ServedAt: w.now, Identity: w.identity, ClockJumped: true, Nonce: "N",
		Heartbeats: requestsOf(t, w, "A ver=90", "B ver=80 lin=elsewhere", "C epoch=70 old"),
	})
	rounds := 0
	for _, c := range out.Changes {
		if c.Cause == group.CauseCorrection {
			rounds++
		}
	}
	require.Equal(t, 1, rounds)
	require.Equal(t, "N", out.Next.Lineage)
	require.Subset(t, out.Next.Known, []string{before.Lineage, "elsewhere"})
	require.Equal(t, before.MetadataVersion+1, out.Next.MetadataVersion, "versions are not raised to match a claim")
	require.Equal(t, w.now.Add(w.cfg.Lease), out.Next.BarrierUntil)
	for _, m := range out.Next.Members {
		require.Equal(t, m.Epoch, m.JoinEpoch)
		require.Greater(t, m.Epoch, before.EpochCounter+1<<20)
	}
}

// E1: fence tokens are epochs. A round that the store loses has given some out; the next
// one, a lease later, gives out higher ones though it starts from the same state.
func TestE1TokensOfALostRoundAreOutrun(t *testing.T) {
	t.Parallel()
	w := newField(t, 1)
	w.beat("A")
	w.identity = "store-2"
	open := func(now group.Millis) group.Output {
		return group.Step(w.cfg, w.g, group.Input{
			Now: now, Fresh: true, Live: w.live, ServedAt: now, Identity: w.identity, Nonce: fmt.Sprintf("N%d", now),
		})
	}
	lost, next := open(w.now).Next, open(w.now.Add(w.cfg.Lease)).Next
	require.Greater(t, next.Members[0].Epoch, lost.EpochCounter+1000, "what the lost round could still give out")
}
