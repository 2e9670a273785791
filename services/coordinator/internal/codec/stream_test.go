package codec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// validStream draws a stream's record as a commit could have left it.
func validStream() *rapid.Generator[stream.Stream] {
	return rapid.Custom(func(t *rapid.T) stream.Stream {
		s := stream.Stream{
			Prefix: name().Draw(t, "prefix"), ShardCount: rapid.IntRange(0, 10_000).Draw(t, "shards"), Groups: []stream.Group{},
			MetadataVersion: rapid.Int64Range(1, 1<<62).Draw(t, "version"), Lineage: rapid.StringN(1, 30, -1).Draw(t, "lineage"),
			Mark: rapid.Int64Range(0, 1<<62).Draw(t, "mark"), CreatedAt: int64(maybe(moment()).Draw(t, "created")),
		}
		states := []stream.State{stream.Creating, stream.Active, stream.Deleting}
		if s.Mark > 0 && rapid.Bool().Draw(t, "resharded") {
			states = []stream.State{stream.Active} // L1
			drawResharding(t, &s)
		}
		if s.LayoutVersion = maybe(rapid.Int64Range(1, 1<<62)).Draw(t, "layout"); s.LayoutVersion > 0 {
			s.LayoutCause = rapid.SampledFrom([]stream.LayoutCause{
				stream.CauseScale, stream.CauseRollback, stream.CauseSeal, stream.CauseReprovision, stream.CauseCorrection,
			}).Draw(t, "cause")
		}
		for shard := range min(s.ReadCount(), 8) {
			if rapid.Bool().Draw(t, "lost") {
				s.Lost = append(s.Lost, shard)
			}
		}
		ids := rapid.SliceOfDistinct(name(), rapid.ID).Draw(t, "groups")
		slices.Sort(ids)
		for _, id := range ids {
			s.Groups = append(s.Groups, stream.Group{
				Name: id, FromLatest: rapid.Bool().Draw(t, "latest"), State: rapid.SampledFrom(states).Draw(t, "state"),
			})
		}
		return s
	})
}

// drawResharding draws one that is under way and those before it.
func drawResharding(t *rapid.T, s *stream.Stream) {
	finished := []stream.Phase{stream.PhaseDeprecated, stream.PhaseRolledBack}
	for range rapid.IntRange(0, 3).Draw(t, "past") {
		past := resharding(s.Mark, finished...).Draw(t, "one")
		drawRemoved(t, &past)
		s.Past = append(s.Past, past)
	}
	r := resharding(s.Mark, stream.PhasePreparing, stream.PhaseActive, stream.PhaseDraining, stream.PhaseRollingBack).Draw(t, "active")
	s.Resharding, s.ShardCount = &r, r.To
	if r.Phase == stream.PhasePreparing || r.Turned {
		s.ShardCount = r.From
	}
	if r.Phase == stream.PhasePreparing {
		r.DrainFrom = 0
		return
	}
	if s.ShardCount == min(r.From, r.To) { // otherwise nothing is removed
		drawRemoved(t, &r)
		if len(r.At(stream.StepSealed)) < len(r.Shards) {
			s.Removed = len(r.Shards)
		}
	}
}

func resharding(mark int64, phases ...stream.Phase) *rapid.Generator[stream.Resharding] {
	return rapid.Custom(func(t *rapid.T) stream.Resharding {
		r := stream.Resharding{
			ID: name().Draw(t, "id"), From: rapid.IntRange(0, 20).Draw(t, "from"), Phase: rapid.SampledFrom(phases).Draw(t, "phase"),
			Mark: rapid.Int64Range(1, mark).Draw(t, "mark"), DrainFrom: int64(maybe(moment()).Draw(t, "drainFrom")),
			Problem: rapid.String().Draw(t, "problem"), Order: order().Draw(t, "order"), DeprecatedAfter: rapid.String().Draw(t, "after"),
			CreatedAt: int64(moment().Draw(t, "created")), UpdatedAt: int64(moment().Draw(t, "updated")),
		}
		r.To = rapid.IntRange(0, 20).Filter(func(n int) bool { return n != r.From }).Draw(t, "to")
		back := r.Phase == stream.PhaseRollingBack || r.Phase == stream.PhaseRolledBack
		r.Turned = back && rapid.Bool().Draw(t, "turned")
		return r
	})
}

func order() *rapid.Generator[stream.Order] {
	return rapid.Custom(func(t *rapid.T) stream.Order {
		return stream.Order{
			RequestedBy: rapid.String().Draw(t, "by"), Reason: rapid.String().Draw(t, "why"), RequestID: rapid.String().Draw(t, "request"),
		}
	})
}

// drawRemoved lists all shards that one count has and the other has not.
func drawRemoved(t *rapid.T, r *stream.Resharding) {
	for i := min(r.From, r.To); i < max(r.From, r.To); i++ {
		shard := stream.Removed{
			Index: i, Step: rapid.SampledFrom([]stream.Step{stream.StepReading, stream.StepClosing, stream.StepSealed}).Draw(t, "step"),
			Since: int64(maybe(moment()).Draw(t, "since")), Reason: rapid.String().Draw(t, "reason"),
			Proof: rapid.String().Draw(t, "proof"), Evidence: rapid.String().Draw(t, "evidence"),
		}
		if rapid.Bool().Draw(t, "confirmed") {
			by := order().Draw(t, "by")
			shard.Confirmed = &by
		}
		r.Shards = append(r.Shards, shard)
	}
}

func TestEveryValidStreamIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := validStream().Draw(t, "stream")
		data, err := codec.EncodeStream(codec.Schema, s)
		require.NoError(t, err)
		read, err := codec.DecodeStream(codec.Schema, data)
		require.NoError(t, err)
		require.Equal(t, s, read)
	})
}
