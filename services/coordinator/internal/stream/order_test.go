package stream_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// draining is a scale-in from 5 shards to 2: shard 2 is read, 3 closed, 4 sealed.
func draining(t *testing.T) stream.Stream {
	t.Helper()
	s := drained(drainingFrom(activated(scale(t, 2)(settled(5)))))
	return sealed(map[int]string{4: ""})(judged(map[int]string{2: "LAG_UNKNOWN", 3: "", 4: ""})(s))
}

// TestL1OrdersThatAreRefusedChangeNothing: one resharding at a time, and no group comes or
// goes meanwhile.
func TestL1OrdersThatAreRefusedChangeNothing(t *testing.T) {
	t.Parallel()
	over := finished(activated(scale(t, 6)(settled(4))))
	unfinished, err := settled(4).WithCreating(stream.Group{Name: "new"}, false)
	require.NoError(t, err)
	leaving, err := settled(4).WithState("audit", stream.Deleting)
	require.NoError(t, err)
	backwards := rollback(t)(draining(t))
	scaled := func(to int) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) { return s.Scaled("R2", to, ada("q"), "", 1) }
	}
	undo := func(id string) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) { return s.RollingBack(id, ada("q"), 1) }
	}
	confirm := func(id string, index int) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) { return s.Confirmed(id, index, ada("q"), 1) }
	}
	for name, c := range map[string]struct {
		given stream.Stream
		do    func(stream.Stream) (stream.Stream, error)
		err   error
	}{
		"a second scale":                        {draining(t), scaled(3), stream.ErrActive},
		"a second scale to the count it has":    {draining(t), scaled(2), stream.ErrActive},
		"a scale while one is rolled back":      {backwards, scaled(3), stream.ErrActive},
		"a scale to the same count":             {settled(4), scaled(4), stream.ErrSame},
		"a scale while a group is created":      {unfinished, scaled(5), stream.ErrUnfinished},
		"a scale while a group is deleted":      {leaving, scaled(5), stream.ErrUnfinished},
		"a rollback of none":                    {settled(4), undo("R1"), stream.ErrNoResharding},
		"a rollback of another":                 {draining(t), undo("R2"), stream.ErrNoResharding},
		"a rollback of one without id":          {draining(t), undo(""), stream.ErrNoResharding},
		"a rollback of one that is over (L8)":   {over, undo("R1"), stream.ErrOver},
		"a second rollback (L8)":                {backwards, undo("R1"), stream.ErrOver},
		"a rollback of one rolled back (L8)":    {finished(turned(backwards)), undo("R1"), stream.ErrOver},
		"a word for a shard that is routed":     {draining(t), confirm("R1", 1), stream.ErrNotRemoved},
		"a word for a shard that never was":     {draining(t), confirm("R1", 5), stream.ErrNotRemoved},
		"a word for a shard below all":          {draining(t), confirm("R1", -1), stream.ErrNotRemoved},
		"a word for a shard that is closed":     {draining(t), confirm("R1", 3), stream.ErrNotRemoved},
		"a word for a shard that is sealed":     {draining(t), confirm("R1", 4), stream.ErrNotRemoved},
		"a word for a shard of another (L9)":    {draining(t), confirm("R2", 2), stream.ErrNoResharding},
		"a word before anything is removed":     {scale(t, 2)(settled(5)), confirm("R1", 2), stream.ErrNotRemoved},
		"a word for a shard that was taken out": {finished(allSealed(t)), confirm("R1", 3), stream.ErrNotRemoved},
		"a group is created": {draining(t), func(s stream.Stream) (stream.Stream, error) {
			return s.WithCreating(stream.Group{Name: "new"}, false)
		}, stream.ErrActive},
		"a group is repaired that the stream does not have": {draining(t), func(s stream.Stream) (stream.Stream, error) {
			return s.WithCreating(stream.Group{Name: "new"}, true)
		}, stream.ErrActive},
		"a group is created that is there": {draining(t), func(s stream.Stream) (stream.Stream, error) {
			return s.WithCreating(stream.Group{Name: "audit"}, false)
		}, stream.ErrActive},
		"a group is repaired (M6)": {draining(t), func(s stream.Stream) (stream.Stream, error) {
			return s.WithCreating(stream.Group{Name: "audit"}, true)
		}, nil},
		"a group is deleted": {draining(t), func(s stream.Stream) (stream.Stream, error) {
			return s.WithState("audit", stream.Deleting)
		}, stream.ErrActive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := c.do(c.given)
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.given, after)
		})
	}
}

func allSealed(t *testing.T) stream.Stream {
	t.Helper()
	return sealed(map[int]string{2: "", 3: ""})(judged(map[int]string{2: ""})(draining(t)))
}

func TestL9WordOfAnOperatorStaysWithTheShard(t *testing.T) {
	t.Parallel()
	given := draining(t)
	s, err := given.Confirmed("R1", 2, ada("q3"), 60_000)
	require.NoError(t, err)
	shard, found := s.Resharding.Shard(2)
	require.True(t, found)
	by := ada("q3")
	require.Equal(t, stream.Removed{Index: 2, Step: stream.StepReading, Reason: "LAG_UNKNOWN", Since: 40_000, Confirmed: &by}, shard)
	require.Equal(t, int64(60_000), s.Resharding.UpdatedAt)
	require.Equal(t, given.LayoutVersion, s.LayoutVersion, "nobody has to copy it")
	before, _ := given.Resharding.Shard(2)
	require.Nil(t, before.Confirmed, "the record given is not written")

	s = s.Judged([]stream.Judged{{Index: 2, Proof: "CONFIRMED", Evidence: "tail empty"}}, 61_000)
	shard, _ = s.Resharding.Shard(2)
	require.Equal(t, stream.Removed{
		Index: 2, Step: stream.StepClosing, Since: 61_000, Proof: "CONFIRMED", Evidence: "tail empty", Confirmed: &by,
	}, shard)
}

// TestL2MarksRise: each direction has a mark above all before it, also where the store's
// clock stands still or was set back.
func TestL2MarksRise(t *testing.T) {
	t.Parallel()
	s, err := settled(4).Scaled("R1", 6, ada("q"), "", 500)
	require.NoError(t, err)
	require.Equal(t, int64(500), s.Resharding.Mark, "the clock: above the marks of former streams of the name")
	s, err = s.RollingBack("R1", ada("q"), 400)
	require.NoError(t, err)
	require.Equal(t, int64(501), s.Resharding.Mark)
	require.Equal(t, int64(501), s.Mark)

	s = s.Raised(9000, 600)
	require.Equal(t, int64(9001), s.Resharding.Mark, "above a marker that was found")
	s = s.Raised(100, 600)
	require.Equal(t, int64(9002), s.Resharding.Mark)
	s = s.Marked(0, 9000)
	require.Equal(t, int64(9003), s.Mark, "of a creation")
	require.Equal(t, int64(9002), s.Resharding.Mark)
	require.Equal(t, int64(9101), s.Marked(9100, 9000).Mark, "above a marker that was found")
	require.Equal(t, s.MetadataVersion+1, s.Marked(0, 0).MetadataVersion)
	s = s.WithLost([]int{1}, 10_000)
	require.Equal(t, int64(10_000), s.Mark, "of what makes the shard again")
	require.Equal(t, int64(9002), s.Resharding.Mark)
}

// TestL2DamagedMarkerDoesNotCarryTheRecordAway: a number that never was a mark would make
// the record one that no coordinator reads.
func TestL2DamagedMarkerDoesNotCarryTheRecordAway(t *testing.T) {
	t.Parallel()
	for _, found := range []int64{stream.MaxMark, stream.MaxMark + 1, math.MaxInt64} {
		for _, s := range []stream.Stream{
			draining(t).Raised(found, 60_000), draining(t).Marked(found, 60_000), draining(t).Marked(found, 60_000).Marked(0, 60_000),
			draining(t).Marked(found, 60_000).WithLost([]int{1}, 60_000),
		} {
			require.LessOrEqual(t, s.Mark, int64(stream.MaxMark))
			require.Positive(t, s.Mark)
			require.LessOrEqual(t, s.Resharding.Mark, s.Mark)
		}
	}
}

func TestL10ProblemIsNotedOnce(t *testing.T) {
	t.Parallel()
	s := draining(t)
	require.Equal(t, s, s.Stopped("", 70_000))
	stopped := s.Stopped("connection refused", 70_000)
	require.Equal(t, "connection refused", stopped.Resharding.Problem)
	require.Equal(t, int64(70_000), stopped.Resharding.UpdatedAt)
	require.Equal(t, s.MetadataVersion+1, stopped.MetadataVersion)
	require.Equal(t, stopped, stopped.Stopped("connection refused", 71_000))
	require.Empty(t, stopped.Stopped("", 71_000).Resharding.Problem)
	require.Empty(t, s.Resharding.Problem)
}

func TestL2CreationHasAMarkAboveThoseInRedis(t *testing.T) {
	t.Parallel()
	s := orders().Marked(0, 500)
	require.Equal(t, int64(500), s.Mark)
	require.Equal(t, int64(501), s.Marked(0, 400).Mark, "where the clock went back")
	require.Equal(t, int64(9001), s.Marked(9000, 600).Mark, "above a marker of a lost record")
	require.Equal(t, orders().MetadataVersion+1, s.MetadataVersion)
}
