package reshard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// M5: in a correction round nothing is begun or undone; what was begun goes on without
// sealing anything, as a hold may be lost (M3, L5).
func TestM5InACorrectionRoundNothingIsScaledOrRolledBack(t *testing.T) {
	t.Parallel()
	b := lasting(t, 2, "a", "b")
	b.join("a", "a-1")
	b.join("b", "b-1")
	b.settled()
	b.barrier("b")
	_, err := b.scale(4)
	requireCode(t, err, protocol.CodeMetadataSyncInProgress)
	require.Equal(t, protocol.CodeMetadataSyncInProgress, b.planScale(4).Refusal.ErrorCode)
	_, err = b.scale(2)
	require.NoError(t, err, "no change is none in a round too")
	b.unbar("b")
	b.await("the round is over", func() bool { return b.group("b").Round == nil })

	b.crew[0].keeps = []int{1}
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainStillOwned)
	b.barrier("b")
	b.crew[0].keeps = nil
	requireCode(t, b.rollback(id), protocol.CodeMetadataSyncInProgress)
	require.Equal(t, protocol.CodeMetadataSyncInProgress, b.planRollback(id).Refusal.ErrorCode)
	b.await("released", func() bool { return b.group("a").Holds[0].Member != "" && len(b.drain(id, 1).Owners) == 0 })
	require.NotZero(t, b.group("b").BarrierUntil)
	b.looksAgain()
	require.Equal(t, protocol.DrainClosing, b.drain(id, 1).Phase)
	b.unbar("b")
	b.becomes(id, protocol.MigrationDeprecated)
	require.Zero(t, b.group("b").BarrierUntil)
}
