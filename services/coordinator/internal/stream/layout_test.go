package stream_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestReadingSetIsRoutingAndWhatIsNotProvenEmpty(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s        stream.Stream
		closed   []int
		readable []int
	}{
		"nothing is done":      {settled(3), nil, []int{0, 1, 2}},
		"no shards":            {settled(0), nil, []int{}},
		"in PREPARING":         {scale(t, 1)(settled(3)), nil, []int{0, 1, 2}},
		"removed":              {activated(scale(t, 1)(settled(3))), nil, []int{0, 1, 2}},
		"closed and sealed":    {draining(t), []int{3, 4}, []int{0, 1, 2}},
		"all sealed":           {allSealed(t), nil, []int{0, 1}},
		"back in a rollback":   {turned(rollback(t)(draining(t))), nil, []int{0, 1, 2, 3, 4}},
		"sealed, not yet back": {rollback(t)(draining(t)), []int{3, 4}, []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.closed, c.s.Closed())
			require.Equal(t, c.readable, c.s.Readable())
		})
	}
}

func TestL12LostShards(t *testing.T) {
	t.Parallel()
	given := draining(t)
	s := given.WithLost([]int{2, 0, 0}, 60_000)
	require.Equal(t, []int{0, 2}, s.Lost)
	require.Equal(t, stream.CauseReprovision, s.LayoutCause)
	require.Equal(t, given.LayoutVersion+1, s.LayoutVersion)
	require.Nil(t, given.Lost)

	require.Equal(t, s, s.WithLost([]int{2}, 61_000), "they are known")
	require.Equal(t, s, s.WithLost(nil, 61_000))
	require.Equal(t, s, s.WithLost([]int{3, 4, 5, -1}, 61_000), "nobody is to read these")
	require.Equal(t, []int{0, 1, 2}, s.WithLost([]int{1, 3}, 61_000).Lost)
	require.Equal(t, []int{0, 2}, s.Lost, "the record given is not written")

	require.Equal(t, s, s.WithFound([]int{1}))
	found := s.WithFound([]int{2})
	require.Equal(t, []int{0}, found.Lost)
	require.Equal(t, s.LayoutVersion+1, found.LayoutVersion)
	require.Nil(t, found.WithFound([]int{0, 1}).Lost)
	require.Equal(t, []int{0, 2}, s.Lost)
}

// TestL12ShardThatIsClosedIsNotMadeAgain: making it again would take the seal away, and
// nobody reads it (L5).
func TestL12ShardThatIsClosedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := draining(t).WithLost([]int{1, 2}, 60_000) // a group behind a barrier: not made again yet
	s = judged(map[int]string{2: ""})(s)           // but somebody made the shard meanwhile
	require.Equal(t, []int{1}, s.Lost)
	s = sealed(map[int]string{2: "", 3: ""})(s)
	require.Equal(t, []int{1}, s.Lost)
	require.Equal(t, []int{0, 1}, s.Readable())
}

// TestL1RecordThatLostWritesIsMadeTheNewest, so that groups copy what it says now.
func TestL1RecordThatLostWritesIsMadeTheNewest(t *testing.T) {
	t.Parallel()
	for _, s := range []stream.Stream{settled(4), draining(t)} {
		after := s.Overtaken(9)
		require.Equal(t, int64(10), after.LayoutVersion)
		require.Equal(t, s.MetadataVersion+1, after.MetadataVersion)
		require.Equal(t, stream.CauseCorrection, after.LayoutCause, "no event is without a cause")
		require.Equal(t, s.Readable(), after.Readable())
		require.Equal(t, after, after.Overtaken(9), "once is enough")
	}
	s := draining(t)
	require.Equal(t, s.LayoutVersion+1, s.Overtaken(s.LayoutVersion).LayoutVersion, "two layouts of one version may differ")
}
