package httpapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// A follower that does not keep up is dropped and slows nobody down.
func TestASlowFollowerIsDropped(t *testing.T) {
	t.Parallel()
	f := NewFeed(0)
	slow, err := f.follow()
	require.NoError(t, err)
	fast, err := f.follow()
	require.NoError(t, err)
	for number := range int64(behind + 5) {
		f.Publish(Look{Round: facts.Round{Number: number}})
		require.Equal(t, number, (<-fast.frames).look.Round.Number)
	}
	told := 0
	for range slow.frames { // ends, as it was dropped
		told++
	}
	require.Equal(t, behind, told)
	f.leave(slow)
	f.leave(fast)
	require.Empty(t, f.followers)
	_, open := <-fast.frames
	require.False(t, open)
	f.Close()
	f.Close()
}
