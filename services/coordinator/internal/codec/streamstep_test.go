package codec_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// streamStep draws the next thing that happens to a stream's record. What is refused
// leaves it as it is.
func streamStep(t *rapid.T, s stream.Stream, now int64) stream.Stream {
	var next stream.Stream
	var err error
	by := stream.Order{RequestedBy: "ada", Reason: "test", RequestID: "q"}
	index := rapid.IntRange(-1, 7)
	group := rapid.SampledFrom([]string{"audit", "billing", "search"}).Draw(t, "group")
	kind := rapid.IntRange(0, 15).Draw(t, "kind")
	switch {
	case kind == 0:
		next, err = s.Scaled(fmt.Sprint("R", now), rapid.SampledFrom([]int{0, 1, 2, 4, 7}).Draw(t, "to"), by, "later", now)
	case kind == 1:
		next, err = s.Marked(rapid.Int64().Draw(t, "found"), now).WithCreating(stream.Group{Name: group, FromLatest: true}, rapid.Bool().Draw(t, "repair"))
	case kind == 2:
		next, err = s.WithState(group, rapid.SampledFrom([]stream.State{stream.Active, stream.Deleting}).Draw(t, "state"))
	case kind == 3:
		next = s.WithLost([]int{index.Draw(t, "lost"), index.Draw(t, "lost")}, now)
	case kind == 4:
		next = s.WithFound([]int{index.Draw(t, "found")})
	case kind == 5:
		next = s.Overtaken(max(0, s.LayoutVersion+rapid.Int64Range(-1, 2).Draw(t, "copied")))
	case s.Resharding == nil:
		next, err = s.Scaled(fmt.Sprint("R", now), rapid.SampledFrom([]int{1, 2, 4, 7}).Draw(t, "to"), by, "", now)
	case kind == 6:
		next, err = s.RollingBack(s.Resharding.ID, by, now)
	case kind == 7:
		next, err = s.Confirmed(s.Resharding.ID, index.Draw(t, "confirmed"), by, now)
	case kind == 8:
		next = s.Raised(rapid.Int64().Draw(t, "higher"), now)
	case kind == 9:
		next = s.Stopped("connection refused", now)
	default:
		next = onward(s, now, func() string { return rapid.SampledFrom([]string{"", "", "UNREAD"}).Draw(t, "reason") })
	}
	if err != nil {
		return s
	}
	return next
}

// onward takes a resharding a step further, as its driver does. reason says why a shard is
// not empty, "" when it is.
func onward(s stream.Stream, now int64, reason func() string) stream.Stream {
	r := s.Resharding
	found := func(indexes []int) (all []stream.Judged) {
		for _, i := range indexes {
			all = append(all, stream.Judged{Index: i, Reason: reason(), Proof: "LAG", Evidence: "empty"})
		}
		return all
	}
	switch {
	case r.Phase == stream.PhasePreparing:
		return s.Activated(now)
	case r.Phase == stream.PhaseRollingBack && !r.Turned:
		return s.Turned(now)
	case s.Removed == 0:
		return s.Finished(now)
	case r.DrainFrom == 0:
		return s.DrainingFrom(now+30_000, now)
	case r.Phase == stream.PhaseActive:
		return s.Drained(now)
	default:
		s = s.Sealed(found(r.At(stream.StepClosing)), now)
		return s.Judged(found(s.Resharding.At(stream.StepReading)), now)
	}
}

// TestEveryStreamThatATransitionLeadsToIsReadAgain: the decoder is strict, but never with
// what the record's transitions write.
func TestEveryStreamThatATransitionLeadsToIsReadAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := stream.Stream{
			Prefix: "orders", ShardCount: rapid.IntRange(0, 3).Draw(t, "shards"), MetadataVersion: 1, Lineage: "L",
			Groups: []stream.Group{{Name: "audit", State: stream.Active}},
		}
		for now := range rapid.Int64Range(1, 150).Draw(t, "steps") {
			s = streamStep(t, s, now)
			if i := slices.IndexFunc(s.Groups, func(g stream.Group) bool { return g.State == stream.Deleting }); i >= 0 {
				s, _ = s.Without(s.Groups[i].Name)
			}
			data, err := codec.EncodeStream(codec.Schema, s)
			require.NoError(t, err)
			read, err := codec.DecodeStream(codec.Schema, data)
			require.NoError(t, err, string(data))
			require.Equal(t, s, read)
		}
	})
}
