package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
)

func existing(name string, shards int, groups ...string) protocol.StreamResponse {
	stream := protocol.StreamResponse{StreamPrefix: name, ShardCount: shards, ConsumerGroups: groups}
	for _, group := range groups {
		stream.Groups = append(stream.Groups, protocol.GroupResponse{StreamPrefix: name, ConsumerGroup: group})
	}
	return stream
}

func resharded(stream protocol.StreamResponse, state protocol.MigrationState, from, to int) protocol.StreamResponse {
	stream.Groups[0].ActiveMigration = &protocol.Migration{ReshardingID: "R1", State: state, FromShardCount: from, ToShardCount: to}
	return stream
}

func wants(name string, shards int, groups ...manifest.Group) manifest.Stream {
	return manifest.Stream{Name: name, ShardCount: shards, Groups: groups}
}

func early(name string) manifest.Group {
	return manifest.Group{Name: name, InitialPosition: "earliest"}
}

func late(name string) manifest.Group { return manifest.Group{Name: name, InitialPosition: "latest"} }

func TestADifferenceIsMadeInOrder(t *testing.T) {
	t.Parallel()
	wanted := manifest.Manifest{Streams: []manifest.Stream{
		wants("new", 3, late("l"), early("a"), early("b")),
		wants("late", 2, late("x"), late("y")),
		wants("drifted", 6, early("a"), late("more")),
		wants("same", 4, early("a")),
	}}
	has := []protocol.StreamResponse{
		existing("same", 4, "a"), existing("drifted", 4, "old", "a"), existing("zoo", 9, "z"), existing("aged", 1, "z"),
	}
	changes := []manifest.Change{
		{Action: manifest.CreateStream, Stream: "new", Groups: []manifest.Group{early("a"), early("b")}, To: 3, New: true},
		{Action: manifest.AddGroup, Stream: "new", Groups: []manifest.Group{late("l")}, From: 3, To: 3},
		{Action: manifest.AddGroup, Stream: "late", Groups: []manifest.Group{late("x")}, From: 2, To: 2, New: true},
		{Action: manifest.AddGroup, Stream: "late", Groups: []manifest.Group{late("y")}, From: 2, To: 2},
		{Action: manifest.AddGroup, Stream: "drifted", Groups: []manifest.Group{late("more")}, From: 4, To: 4},
		{Action: manifest.Scale, Stream: "drifted", From: 4, To: 6},
	}
	unmanaged := []manifest.Unmanaged{{Stream: "aged"}, {Stream: "drifted", Group: "old"}, {Stream: "zoo"}}
	require.Equal(t, manifest.Difference{Changes: changes, Unmanaged: unmanaged}, manifest.Diff(wanted, has, false))

	pruned := append(append([]manifest.Change{}, changes[:5]...),
		manifest.Change{Action: manifest.DeleteGroup, Stream: "drifted", Groups: []manifest.Group{{Name: "old"}}, From: 4, To: 4},
		changes[5],
		manifest.Change{Action: manifest.DeleteStream, Stream: "aged", From: 1, Groups: []manifest.Group{{Name: "z"}}},
		manifest.Change{Action: manifest.DeleteStream, Stream: "zoo", From: 9, Groups: []manifest.Group{{Name: "z"}}},
	)
	require.Equal(t, manifest.Difference{Changes: pruned, Unmanaged: unmanaged}, manifest.Diff(wanted, has, true))
}

func TestAReshardingUnderWayCountsAsWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		state  protocol.MigrationState
		wanted int
		scales []manifest.Change
	}{
		"to what is wanted":         {protocol.MigrationActive, 6, nil},
		"to something else":         {protocol.MigrationDraining, 4, []manifest.Change{{Action: manifest.Scale, Stream: "s", From: 6, To: 4}}},
		"back to what is wanted":    {protocol.MigrationRollingBack, 4, nil},
		"back from what is wanted":  {protocol.MigrationRollingBack, 6, []manifest.Change{{Action: manifest.Scale, Stream: "s", From: 4, To: 6}}},
		"prepared to what is meant": {protocol.MigrationPreparing, 6, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wanted := manifest.Manifest{Streams: []manifest.Stream{wants("s", one.wanted, early("a"))}}
			found := manifest.Diff(wanted, []protocol.StreamResponse{resharded(existing("s", 4, "a"), one.state, 4, 6)}, false)
			require.Equal(t, one.scales, found.Changes)
			require.Equal(t, one.scales == nil, len(found.UnderWay) == 1)
		})
	}
}

func TestAReshardingThatIsOverDoesNotCount(t *testing.T) {
	t.Parallel()
	wanted := manifest.Manifest{Streams: []manifest.Stream{wants("s", 4, early("a"))}}
	for _, state := range []protocol.MigrationState{protocol.MigrationDeprecated, protocol.MigrationRolledBack} {
		found := manifest.Diff(wanted, []protocol.StreamResponse{resharded(existing("s", 4, "a"), state, 4, 6)}, false)
		require.Equal(t, manifest.Difference{}, found)
	}
}

// What a difference leads to has no difference any more, and without pruning nothing goes.
func TestWhatWasMadeHasNoDifference(t *testing.T) {
	t.Parallel()
	names := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	drawGroups := func(t *rapid.T, label string) []string {
		return rapid.SliceOfNDistinct(names, 1, 4, rapid.ID[string]).Draw(t, label)
	}
	rapid.Check(t, func(t *rapid.T) {
		var wanted manifest.Manifest
		for _, name := range rapid.SliceOfDistinct(names, rapid.ID[string]).Draw(t, "wanted") {
			stream := wants(name, rapid.IntRange(1, 3).Draw(t, "shards"))
			for _, group := range drawGroups(t, "groups") {
				stream.Groups = append(stream.Groups, manifest.Group{Name: group, InitialPosition: rapid.SampledFrom([]string{"earliest", "latest"}).Draw(t, "position")})
			}
			wanted.Streams = append(wanted.Streams, stream)
		}
		world := map[string]protocol.StreamResponse{}
		for _, name := range rapid.SliceOfDistinct(names, rapid.ID[string]).Draw(t, "existing") {
			world[name] = existing(name, rapid.IntRange(1, 3).Draw(t, "count"), drawGroups(t, "has")...)
		}
		prune := rapid.Bool().Draw(t, "prune")
		first := manifest.Diff(wanted, values(world), prune)
		for _, change := range first.Changes {
			makeIt(t, world, change, prune)
		}
		again := manifest.Diff(wanted, values(world), prune)
		require.Empty(t, again.Changes)
		if prune {
			require.Empty(t, again.Unmanaged)
			require.Len(t, world, len(wanted.Streams))
		} else {
			require.Equal(t, first.Unmanaged, again.Unmanaged)
		}
	})
}

func values(world map[string]protocol.StreamResponse) []protocol.StreamResponse {
	var all []protocol.StreamResponse
	for _, stream := range world {
		all = append(all, stream)
	}
	return all
}

// makeIt is a coordinator in small, with its refusals.
func makeIt(t require.TestingT, world map[string]protocol.StreamResponse, change manifest.Change, prune bool) {
	stream, exists := world[change.Stream]
	switch change.Action {
	case manifest.CreateStream:
		require.False(t, exists)
		stream = existing(change.Stream, change.To)
		fallthrough
	case manifest.AddGroup:
		require.Equal(t, change.New, !exists)
		if !exists {
			stream = existing(change.Stream, change.To)
		}
		for _, group := range change.Groups {
			require.NotContains(t, stream.ConsumerGroups, group.Name)
			stream.ConsumerGroups = append(stream.ConsumerGroups, group.Name)
		}
	case manifest.Scale:
		require.Equal(t, change.From, stream.ShardCount)
		stream.ShardCount = change.To
	case manifest.DeleteGroup:
		require.True(t, prune)
		var left []string
		for _, name := range stream.ConsumerGroups {
			if name != change.Groups[0].Name {
				left = append(left, name)
			}
		}
		require.Len(t, left, len(stream.ConsumerGroups)-1)
		require.NotEmpty(t, left, "a stream goes with its last group")
		stream.ConsumerGroups = left
	case manifest.DeleteStream:
		require.True(t, prune)
		require.True(t, exists)
		delete(world, change.Stream)
		return
	}
	world[change.Stream] = stream
}
