package codec_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

func name() *rapid.Generator[string] { return rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._@+-]{0,9}`) }

func moment() *rapid.Generator[group.Millis] {
	return rapid.Custom(func(t *rapid.T) group.Millis {
		return group.Millis(rapid.Int64Range(1, 253_402_300_799_999).Draw(t, "ms"))
	})
}

// maybe draws zero now and then.
func maybe[T any](g *rapid.Generator[T]) *rapid.Generator[T] {
	var zero T
	return rapid.OneOf(rapid.Just(zero), g)
}

func member(id string, counter int64) *rapid.Generator[group.Member] {
	states := []group.MemberState{
		group.Active, group.Leaving, group.Suspended, group.Waiting, group.Expired, group.Fenced, group.Left,
	}
	return rapid.Custom(func(t *rapid.T) group.Member {
		epoch := rapid.Int64Range(1, counter).Draw(t, "epoch")
		return group.Member{
			ID: id, Name: rapid.String().Draw(t, "name"), Incarnation: maybe(name()).Draw(t, "incarnation"),
			State: rapid.SampledFrom(states).Draw(t, "state"), Since: moment().Draw(t, "since"),
			Epoch: epoch, JoinEpoch: rapid.Int64Range(1, epoch).Draw(t, "joinEpoch"),
			Cause: rapid.SampledFrom([]group.Cause{group.CauseJoin, group.CauseLeave, group.CauseExpire, ""}).Draw(t, "cause"),
		}
	})
}

// validGroup draws a group as a commit could have left it.
func validGroup() *rapid.Generator[*group.Group] {
	return rapid.Custom(func(t *rapid.T) *group.Group {
		shards := rapid.IntRange(0, 6).Draw(t, "shards")
		counter := rapid.Int64Range(1, 1<<62).Draw(t, "counter")
		epoch := rapid.Int64Range(1, 1<<62).Draw(t, "groupEpoch")
		g := &group.Group{
			StreamPrefix: name().Draw(t, "prefix"), ConsumerGroup: name().Draw(t, "group"), Lineage: rapid.StringN(1, 30, -1).Draw(t, "lineage"),
			Identity: rapid.String().Draw(t, "identity"), ClaimedVersion: maybe(rapid.Int64Min(1)).Draw(t, "claimed"),
			ClaimedEpoch: maybe(rapid.Int64Min(1)).Draw(t, "claimedEpoch"), GroupEpoch: epoch,
			AssignmentEpoch: rapid.Int64Range(1, epoch).Draw(t, "assignmentEpoch"), EpochCounter: counter,
			MetadataVersion: rapid.Int64Range(1, 1<<62).Draw(t, "version"), LayoutVersion: rapid.Int64Range(0, 1<<62).Draw(t, "layout"),
			Target: make([]string, shards), Holds: make([]group.Hold, shards), Members: []group.Member{},
			BarrierUntil: maybe(moment()).Draw(t, "barrier"), GraceUntil: maybe(moment()).Draw(t, "grace"), CreatedAt: moment().Draw(t, "created"),
		}
		drawLayout(t, g)
		if known := rapid.SliceOfN(rapid.String(), 0, group.MaxKnown).Draw(t, "known"); len(known) > 0 {
			g.Known = known
		}
		if rapid.Bool().Draw(t, "round") {
			g.Round = &group.Round{
				OpenedVersion: rapid.Int64Range(1, g.MetadataVersion).Draw(t, "opened"), OpenedAt: maybe(moment()).Draw(t, "openedAt"),
			}
		}
		ids := rapid.SliceOfNDistinct(name(), 0, 5, rapid.ID).Draw(t, "ids")
		slices.Sort(ids)
		for _, id := range ids {
			g.Members = append(g.Members, member(id, counter).Draw(t, id))
		}
		if len(ids) > 0 {
			drawShards(t, g)
		}
		for n := len(g.Holds); n > g.ReadCount() && g.Holds[n-1] == (group.Hold{}); n-- { // a commit keeps no free one (L5)
			g.Target, g.Holds = g.Target[:n-1], g.Holds[:n-1]
		}
		return g
	})
}

// drawLayout says which shards are of the routing set, which are removed, closed or lost,
// and which are only there because somebody may still read them.
func drawLayout(t *rapid.T, g *group.Group) {
	g.ShardCount = rapid.IntRange(0, len(g.Target)).Draw(t, "routed")
	g.Removed = rapid.IntRange(0, len(g.Target)-g.ShardCount).Draw(t, "removed")
	for shard := range g.ReadCount() {
		if rapid.Bool().Draw(t, "lost") {
			g.Lost = append(g.Lost, shard)
		}
		if shard >= g.ShardCount && rapid.Bool().Draw(t, "closed") {
			g.Closed = append(g.Closed, shard)
		}
	}
}

// drawShards fills in who should read and who may be reading.
func drawShards(t *rapid.T, g *group.Group) {
	for shard := range g.Target {
		if m := rapid.SampledFrom(g.Members).Draw(t, "owner"); m.Eligible() && g.Open(shard) {
			g.Target[shard] = m.ID
		}
		i := rapid.IntRange(-1, len(g.Members)-1).Draw(t, "holder")
		if i < 0 {
			continue
		}
		m := &g.Members[i]
		if !m.Listening() || rapid.Bool().Draw(t, "lingers") {
			g.Holds[shard] = group.Hold{Member: m.ID, Incarnation: maybe(name()).Draw(t, "life"), Lingers: moment().Draw(t, "until")}
			continue
		}
		g.Holds[shard] = group.Hold{Member: m.ID, Incarnation: m.Incarnation, Told: g.Target[shard] != m.ID}
		if g.Holds[shard].Told && g.BarrierUntil == 0 && g.Round == nil {
			m.DropBy = moment().Draw(t, "dropBy")
		}
	}
}

func TestEveryValidGroupIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := validGroup().Draw(t, "group")
		data, err := codec.EncodeGroup(codec.Schema, g)
		require.NoError(t, err)
		read, err := codec.DecodeGroup(codec.Schema, data)
		require.NoError(t, err)
		require.Equal(t, g, read)
	})
}
