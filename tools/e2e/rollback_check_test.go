package e2e_test

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// settled is how a group came to rest again.
type settled struct {
	after         time.Duration // since the loss
	barrier       bool          // it was seen
	synchronising map[string]int
	unknown       int
	firstOK       time.Duration // of any member since the loss
	regranted     []time.Duration
	held, moved   int
}

// settle waits until the group is stable without anybody's help, and checks what members
// and coordinator said to each other meanwhile and who read what.
func (c *scene) settle() settled {
	c.t.Helper()
	r := settled{synchronising: map[string]int{}}
	c.eventually(func() bool {
		view, err := c.admin.Group(c.t.Context(), stream, group)
		if err != nil || view.Lineage == c.lineage {
			return false
		}
		r.barrier = r.barrier || view.BarrierUntil != nil
		members, err := c.admin.Members(c.t.Context(), stream, group)
		if err != nil {
			return false
		}
		live := 0
		for _, one := range members {
			if one.State == protocol.MemberActive {
				live++
			}
		}
		return view.State == protocol.GroupStable && view.BarrierUntil == nil && live == len(c.names)
	}, "the group is stable in a new lineage")
	r.after = time.Since(c.lost)
	require.True(c.t, r.barrier, "the barrier was shown")
	require.LessOrEqual(c.t, time.Since(c.gone), convergence, "V1")
	c.checkAnswers(&r)
	c.checkGrants(&r)
	return r
}

// checkAnswers goes through the answers since the loss. Who still follows the lost
// history is told so every time, and nobody is told to start anything while the barrier is
// up (protocol M3, M4, A3).
func (c *scene) checkAnswers(r *settled) {
	c.t.Helper()
	for _, one := range c.record.answeredSince(c.lost) { // one may have been on its way when the loss came
		status := one.answer.Status
		who := one.request.MemberID
		switch {
		case status == protocol.StatusSyncMetadata:
			r.synchronising[who]++
		case status == protocol.StatusUnknownMemberID:
			r.unknown++
		case one.request.Lineage == c.lineage && one.sent.After(c.gone):
			require.Equal(c.t, protocol.StatusFencedMemberEpoch, status, "%s follows the lost history", who)
		}
		if status != protocol.StatusOK {
			continue
		}
		require.False(c.t, one.sent.After(c.gone) && one.answer.Lineage == c.lineage)
		if r.firstOK == 0 && one.answer.Lineage != c.lineage {
			r.firstOK = one.answered.Sub(c.lost)
		}
	}
	require.Positive(c.t, r.synchronising["c1"])
	require.Greater(c.t, r.synchronising["c2"], unheard, "c2 is told until it has heard it")
	require.Greater(c.t, r.firstOK, sceneLease-grain, "OK within one lease")
}

// checkGrants looks into the members' own ledgers: until the barrier is over a shard is
// read by who read it before, with the same grant, or by nobody (protocol M3).
func (c *scene) checkGrants(r *settled) {
	c.t.Helper()
	over := c.lost.Add(sceneLease - grain)
	held, first := map[int]bool{}, map[int]time.Time{}
	for _, name := range c.names {
		for _, one := range of("start", c.ledger(name)) {
			switch {
			case one.at().Before(c.gone):
			case c.readers[one.Shard] == reading{name, one.Fence}:
				held[one.Shard] = held[one.Shard] || one.at().Before(over)
			default:
				require.False(c.t, one.at().Before(over), "%s began to read shard %d with token %d %s after the loss; before it was %+v",
					name, one.Shard, one.Fence, one.at().Sub(c.lost), c.readers[one.Shard])
				if first[one.Shard].IsZero() || one.at().Before(first[one.Shard]) {
					first[one.Shard] = one.at()
				}
			}
		}
	}
	for _, at := range first {
		r.regranted = append(r.regranted, at.Sub(c.lost).Round(time.Millisecond))
	}
	slices.Sort(r.regranted)
	for _, is := range held {
		if is {
			r.held++
		}
	}
	for shard, now := range c.owners() {
		if now != c.readers[shard].name {
			r.moved++
		}
	}
}

// tell prints the figures of a scene.
func (c *scene) tell(what string, commits int64, r settled, proof report) {
	c.t.Helper()
	c.t.Logf("%s: %d commits lost, stable after %s, first OK after %s, SYNC_METADATA %v, UNKNOWN_MEMBER_ID %d; "+
		"%d of %d shards read on during the barrier, %d shards at another owner afterwards, read by new grants after %v; "+
		"%d records, %d handled, %d duplicates, %d lost, %d double readers", what, commits,
		r.after.Round(time.Millisecond), r.firstOK.Round(time.Millisecond), r.synchronising, r.unknown,
		r.held, shards, r.moved, r.regranted, proof.Records, proof.Handled, proof.Duplicates.Total, proof.Lost, proof.DoubleReaders)
}
