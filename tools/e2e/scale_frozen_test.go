package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestAFrozenConsumerReadsNothingOfASealedShard: a consumer is frozen with records in hand
// while its shards are removed. Nobody waits for it longer than for its lease (protocol
// L7), and when it is woken it begins nothing that it held before (H5).
func TestAFrozenConsumerReadsNothingOfASealedShard(t *testing.T) {
	t.Parallel()
	s := startScaling(t, append(quickly(), sceneTiming()...)...)
	s.createStream()
	s.load("publisher", 400)
	s.read(2, "--work", sceneWork)
	s.eventually(func() bool { return s.handled("c1") > 100 && s.handled("c2") > 100 }, "both handle records")

	freeze(t, s.consumers[0])
	frozen := time.Now()
	s.inHand = 1
	in := s.follow(s.admin, s.scale(s.admin, 3))
	require.Equal(t, protocol.MigrationDeprecated, in.last.State)
	s.tell(in)
	s.requireSealed(in, 3, shards)
	held := map[int64]bool{} // by which tokens it read
	for _, one := range of("start", s.ledger("c1")) {
		held[one.Fence] = true
	}
	woken := time.Now()
	thaw(t, s.consumers[0])
	s.stable(2)
	s.eventually(func() bool {
		return slices.ContainsFunc(s.ledger("c1"), func(e entry) bool { return e.Kind == "start" && !held[e.Fence] })
	}, "the woken consumer reads again")
	late := 0
	for _, one := range s.ledger("c1") {
		if one.Kind == "start" && held[one.Fence] && one.at().After(woken) {
			late++
		}
	}
	require.LessOrEqual(t, late, s.inHand, "but the record for which it had looked at its lease when it was frozen")
	r := s.ending("--resharded")
	t.Logf("frozen for %s, and began nothing by an old token; %d duplicates, %d handlings ended late",
		woken.Sub(frozen).Round(time.Millisecond), r.Duplicates.Total, r.DoubleReaders)
	require.LessOrEqual(t, r.Duplicates.Total, 1+100, "what it had in hand, and what it had not acknowledged yet")
	s.requireKept()
}
