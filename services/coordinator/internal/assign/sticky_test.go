package assign_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/assign"
)

func TestStickyTable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		owners, members, want []string
	}{
		"nobody": {
			owners: []string{"", "a"}, members: nil, want: []string{"", ""},
		},
		"no shards": {
			owners: nil, members: []string{"a"}, want: []string{},
		},
		"the first member gets everything": {
			owners: []string{"", "", ""}, members: []string{"a"}, want: []string{"a", "a", "a"},
		},
		"the second takes the fewest that make it even": {
			owners: []string{"a", "a", "a", "a"}, members: []string{"a", "b"}, want: []string{"a", "a", "b", "b"},
		},
		"an odd shard stays where it is": {
			owners: []string{"a", "a", "a"}, members: []string{"a", "b"}, want: []string{"a", "a", "b"},
		},
		"what a gone member had goes to the least loaded": {
			owners: []string{"a", "a", "b", "x"}, members: []string{"a", "b"}, want: []string{"a", "a", "b", "b"},
		},
		"ties go by member id": {
			owners: []string{"", "", ""}, members: []string{"b", "c", "d"}, want: []string{"b", "c", "d"},
		},
		"more members than shards: the surplus owns nothing (S2)": {
			owners: []string{"", ""}, members: []string{"a", "b", "c"}, want: []string{"a", "b"},
		},
		"a surplus member is no reason to move": {
			owners: []string{"c", "b"}, members: []string{"a", "b", "c"}, want: []string{"c", "b"},
		},
		"a balanced target is left alone (S3)": {
			owners: []string{"b", "a", "b", "a", "b"}, members: []string{"a", "b"}, want: []string{"b", "a", "b", "a", "b"},
		},
		"all gone, all new": {
			owners: []string{"x", "y", "x", "y"}, members: []string{"a", "b"}, want: []string{"a", "b", "a", "b"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := assign.Sticky{}.Assign(assign.Input{Owners: test.owners, Members: test.members})
			require.Len(t, got, len(test.owners))
			require.Equal(t, load(test.want), load(got))
			require.Equal(t, moves(test.owners, test.want, test.members), moves(test.owners, got, test.members))
		})
	}
}

// TestStickyOrderOfShards pins the exact choice, which answers and audit records show.
func TestStickyOrderOfShards(t *testing.T) {
	t.Parallel()
	got := assign.Sticky{}.Assign(assign.Input{Owners: []string{"", "", "", "", ""}, Members: []string{"a", "b"}})
	require.Equal(t, []string{"a", "a", "a", "b", "b"}, got, "the free shards in order, the least loaded filled up first")
}

// problem draws shards whose owners may be live, gone or none.
func problem(t *rapid.T, most int) assign.Input {
	members := make([]string, rapid.IntRange(0, most).Draw(t, "members"))
	for i := range members {
		members[i] = "m" + strconv.Itoa(i)
	}
	owners := make([]string, rapid.IntRange(0, 3*most).Draw(t, "shards"))
	for shard := range owners {
		if n := rapid.IntRange(-2, most+1).Draw(t, "owner"); n >= 0 {
			owners[shard] = "m" + strconv.Itoa(n) // above len(members): gone
		}
	}
	return assign.Input{Owners: owners, Members: members}
}

// S1, I10: every shard has one live owner, and nobody has two more than another.
func TestS1EverySplitIsLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := problem(t, 12)
		got := assign.Sticky{}.Assign(in)
		require.Len(t, got, len(in.Owners))
		counts := load(got)
		least, most := len(got), 0
		for _, id := range in.Members {
			least, most = min(least, counts[id]), max(most, counts[id])
		}
		for _, owner := range got {
			require.True(t, owner == "" && len(in.Members) == 0 || slices.Contains(in.Members, owner), owner)
		}
		if len(in.Members) > 0 {
			require.LessOrEqual(t, most-least, 1)
		}
	})
}

// S1, I11: no legal target moves fewer shards of live owners; found by trying all.
func TestS1MovesTheFewest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := problem(t, 3)
		if len(in.Owners) > 6 {
			in.Owners = in.Owners[:6]
		}
		got := assign.Sticky{}.Assign(in)
		require.Equal(t, fewest(in), moves(in.Owners, got, in.Members), "%v -> %v", in.Owners, got)
	})
}

// S1: a join moves at most ceil(S/(M+1)) shards, all of them to the joiner.
func TestS1AJoinMovesItsShareOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := problem(t, 12)
		if len(in.Members) == 0 {
			return
		}
		in.Owners = assign.Sticky{}.Assign(in)
		joiner := rapid.SampledFrom([]string{"a", "m00", "z"}).Draw(t, "joiner")
		with := slices.Sorted(slices.Values(append(slices.Clone(in.Members), joiner)))
		got := assign.Sticky{}.Assign(assign.Input{Owners: in.Owners, Members: with})
		moved := 0
		for shard, owner := range got {
			if owner != in.Owners[shard] {
				require.Equal(t, joiner, owner)
				moved++
			}
		}
		share := (len(in.Owners) + len(in.Members)) / (len(in.Members) + 1)
		require.LessOrEqual(t, moved, share)
	})
}

// S1: when a member goes, only its shards move.
func TestS1ALeaveMovesOnlyWhatWasItsOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := problem(t, 12)
		if len(in.Members) < 2 {
			return
		}
		in.Owners = assign.Sticky{}.Assign(in)
		gone := rapid.IntRange(0, len(in.Members)-1).Draw(t, "gone")
		left := slices.Delete(slices.Clone(in.Members), gone, gone+1)
		got := assign.Sticky{}.Assign(assign.Input{Owners: in.Owners, Members: left})
		require.Zero(t, moves(in.Owners, got, left))
	})
}

// S3: the target is a fixpoint, the computation leaves its input alone and is the same
// every time.
func TestS3ATargetOfTheSameMembersStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := problem(t, 12)
		owners, members := slices.Clone(in.Owners), slices.Clone(in.Members)
		first := assign.Sticky{}.Assign(in)
		require.Equal(t, owners, in.Owners)
		require.Equal(t, members, in.Members)
		require.Equal(t, first, assign.Sticky{}.Assign(in), "the same input gives the same target")
		require.Equal(t, first, assign.Sticky{}.Assign(assign.Input{Owners: first, Members: in.Members}))
	})
}

func load(owners []string) map[string]int {
	counts := map[string]int{}
	for _, owner := range owners {
		counts[owner]++
	}
	return counts
}

// moves counts the shards that leave a live owner.
func moves(from, to, members []string) int {
	n := 0
	for shard, owner := range from {
		if slices.Contains(members, owner) && to[shard] != owner {
			n++
		}
	}
	return n
}

// fewest tries every target with a spread of at most one.
func fewest(in assign.Input) int {
	if len(in.Members) == 0 {
		return 0
	}
	best := len(in.Owners)
	target := make([]string, len(in.Owners))
	var try func(shard int)
	try = func(shard int) {
		if shard < len(target) {
			for _, id := range in.Members {
				target[shard] = id
				try(shard + 1)
			}
			return
		}
		counts := load(target)
		least, most := len(target), 0
		for _, id := range in.Members {
			least, most = min(least, counts[id]), max(most, counts[id])
		}
		if most-least <= 1 {
			best = min(best, moves(in.Owners, target, in.Members))
		}
	}
	try(0)
	return best
}

// BenchmarkSticky is a join into a large group: 1,000 members, 10,000 shards.
func BenchmarkSticky(b *testing.B) {
	const shards = 10_000
	members := make([]string, 1000)
	for i := range members {
		members[i] = fmt.Sprintf("member-%04d", i)
	}
	owners := assign.Sticky{}.Assign(assign.Input{Owners: make([]string, shards), Members: members})
	joined := append(slices.Clone(members), "member-9999")
	b.ReportAllocs()
	for b.Loop() {
		assign.Sticky{}.Assign(assign.Input{Owners: owners, Members: joined})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/shards, "ns/shard")
}
