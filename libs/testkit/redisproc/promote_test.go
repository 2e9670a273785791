package redisproc

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPromotedReplicaHasWhatItHadReceivedAndAnotherHistory(t *testing.T) {
	t.Parallel()
	master := Start(t)
	replica := Start(t)
	old, promoted := master.Client(t), replica.Client(t)
	require.NoError(t, old.Set(t.Context(), "before", "1", 0).Err())
	replica.Follow(t, master)
	require.Error(t, promoted.Set(t.Context(), "own", "1", 0).Err(), "a replica takes no writes")

	replica.Promote(t)
	require.NoError(t, old.Set(t.Context(), "after", "1", 0).Err())
	require.NoError(t, promoted.Set(t.Context(), "own", "1", 0).Err())
	require.Equal(t, "1", promoted.Get(t.Context(), "before").Val())
	require.Zero(t, promoted.Exists(t.Context(), "after").Val())
	require.Equal(t, "1", old.Get(t.Context(), "after").Val())
}
