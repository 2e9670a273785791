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

// News of groups between rounds goes to who has taken all before, and nobody is dropped for it.
func TestNewsBetweenRoundsDropNobody(t *testing.T) {
	t.Parallel()
	f := NewFeed(0)
	late, err := f.follow()
	require.NoError(t, err)
	f.Publish(Look{Round: facts.Round{Number: 1}})
	for range 2 * behind {
		f.Update(Look{Round: facts.Round{Number: 1, Problem: "between"}})
	}
	f.Publish(Look{Round: facts.Round{Number: 2}})
	require.Empty(t, (<-late.frames).look.Round.Problem)
	require.EqualValues(t, 2, (<-late.frames).look.Round.Number)
	f.Update(Look{Round: facts.Round{Number: 2, Problem: "between"}})
	require.Equal(t, "between", (<-late.frames).look.Round.Problem)
	young, err := f.follow()
	require.NoError(t, err)
	require.Equal(t, "between", (<-young.frames).look.Round.Problem, "who comes later begins with the newest")
	f.Close()
	f.Update(Look{})
	_, open := <-late.frames
	require.False(t, open)
}
