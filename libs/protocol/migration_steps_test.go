package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// L10: what is still waited for does not look finished.
func TestStepsAreAllDoneOnlyAtTheEnd(t *testing.T) {
	t.Parallel()
	steps := func(state protocol.MigrationState, done, total int, copied ...bool) [2]int {
		m := protocol.Migration{State: state, Progress: &protocol.MigrationProgress{Done: done, Total: total}}
		for _, has := range copied {
			m.Progress.Groups = append(m.Progress.Groups, protocol.GroupProgress{Copied: has})
		}
		done, total = m.Steps()
		return [2]int{done, total}
	}
	require.Equal(t, [2]int{2, 4}, steps(protocol.MigrationActive, 2, 2, false), "all shards are made, and a group works on the old layout")
	require.Equal(t, [2]int{3, 4}, steps(protocol.MigrationActive, 2, 2, true), "old answers to producers run out")
	require.Equal(t, [2]int{1, 5}, steps(protocol.MigrationPreparing, 1, 2, true, true), "the layout that they have is the old one")
	require.Equal(t, [2]int{2, 2}, steps(protocol.MigrationDeprecated, 2, 2))
	require.Equal(t, [2]int{2, 2}, steps(protocol.MigrationRolledBack, 1, 2), "an undone one is over")
	require.Equal(t, [2]int{0, 0}, steps(protocol.MigrationRollingBack, 0, 0))
	require.Equal(t, [2]int{0, 2}, steps(protocol.MigrationRollingBack, 0, 0, false))
	require.Equal(t, [2]int{2, 3}, steps(protocol.MigrationDraining, 7, 2), "numbers that cannot be")
	done, total := protocol.Migration{State: protocol.MigrationActive}.Steps()
	require.Zero(t, done+total, "lists tell no progress")
}
