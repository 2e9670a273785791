package stream_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// orders has one group in each state. Its groups have room for more, so that a change
// that writes into them instead of a copy shows.
func orders() stream.Stream {
	groups := append(make([]stream.Group, 0, 8),
		stream.Group{Name: "b", State: stream.Creating},
		stream.Group{Name: "d", State: stream.Active, FromLatest: true},
		stream.Group{Name: "f", State: stream.Deleting})
	return stream.Stream{Prefix: "orders", ShardCount: 4, MetadataVersion: 7, Lineage: "L", Groups: groups, CreatedAt: 1}
}

// TestL1TransitionsOfAGroup: the record decides alone, and a transition that is refused
// or already done changes nothing, so that a retry may come again.
func TestL1TransitionsOfAGroup(t *testing.T) {
	t.Parallel()
	create := func(name string, repair bool) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) {
			return s.WithCreating(stream.Group{Name: name, State: stream.Active, FromLatest: true}, repair)
		}
	}
	move := func(name string, to stream.State) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) { return s.WithState(name, to) }
	}
	remove := func(name string) func(stream.Stream) (stream.Stream, error) {
		return func(s stream.Stream) (stream.Stream, error) { return s.Without(name) }
	}
	for name, test := range map[string]struct {
		do   func(stream.Stream) (stream.Stream, error)
		want []stream.Group // nil when nothing changes
		err  error
	}{
		"create, first of all": {do: create("a", false), want: with(0, 0, stream.Group{Name: "a", State: stream.Creating, FromLatest: true})},
		"create, between":      {do: create("c", false), want: with(1, 1, stream.Group{Name: "c", State: stream.Creating, FromLatest: true})},
		"create, last of all":  {do: create("g", false), want: with(3, 3, stream.Group{Name: "g", State: stream.Creating, FromLatest: true})},
		"create again":         {do: create("b", false)},
		"create one that is":   {do: create("d", false), err: stream.ErrGroupExists},
		"create while deleted": {do: create("f", false), err: stream.ErrGroupBusy},

		"repair one unknown":          {do: create("a", true), want: with(0, 0, stream.Group{Name: "a", State: stream.Creating, FromLatest: true})},
		"repair one being created":    {do: create("b", true)},
		"repair one that is (M6)":     {do: create("d", true)},
		"repair one that is deleted":  {do: create("f", true), err: stream.ErrGroupBusy},
		"activate":                    {do: move("b", stream.Active), want: with(0, 1, stream.Group{Name: "b", State: stream.Active})},
		"activate again":              {do: move("d", stream.Active)},
		"activate one unknown":        {do: move("a", stream.Active), err: stream.ErrGroupUnknown},
		"delete one being created":    {do: move("b", stream.Deleting), want: with(0, 1, stream.Group{Name: "b", State: stream.Deleting})},
		"delete keeps the rest of it": {do: move("d", stream.Deleting), want: with(1, 2, stream.Group{Name: "d", State: stream.Deleting, FromLatest: true})},
		"delete again":                {do: move("f", stream.Deleting)},
		"delete one unknown":          {do: move("zz", stream.Deleting), err: stream.ErrGroupUnknown},
		"remove the first":            {do: remove("b"), want: with(0, 1)},
		"remove the last":             {do: remove("f"), want: with(2, 3)},
		"remove one unknown":          {do: remove("e"), err: stream.ErrGroupUnknown},
		"remove one without name":     {do: remove(""), err: stream.ErrGroupUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := orders()
			after, err := test.do(before)
			require.ErrorIs(t, err, test.err)
			want := orders()
			if test.want != nil {
				want.Groups = test.want
				want.MetadataVersion++
			}
			require.Equal(t, want, after)
			require.Equal(t, orders(), before, "the record given is not written")
			require.Equal(t, make([]stream.Group, 5), before.Groups[3:8], "nor what is behind it")
		})
	}
}

// with returns the groups of orders with those from i to j replaced.
func with(i, j int, groups ...stream.Group) []stream.Group {
	return slices.Replace(slices.Clone(orders().Groups), i, j, groups...)
}

func TestFindAndActiveSeeOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	g, found := orders().Find("d")
	require.True(t, found)
	require.Equal(t, stream.Group{Name: "d", State: stream.Active, FromLatest: true}, g)
	g, found = orders().Find("e")
	require.False(t, found)
	require.Zero(t, g)
	require.Equal(t, []string{"d"}, orders().Active())
	require.Equal(t, []string{}, stream.Stream{}.Active(), "never nil")
}

// TestGroupsStaySortedAndVersionsRiseByOne over any history of transitions.
func TestGroupsStaySortedAndVersionsRiseByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := stream.Stream{Prefix: "orders", MetadataVersion: 1}
		model := map[string]stream.State{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "a-b", "a.b", "B", "c", "é"}).Draw(t, "name")
			before := s
			var err error
			switch state, known := model[name]; rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				s, err = s.WithCreating(stream.Group{Name: name}, false)
				require.Equal(t, known && state != stream.Creating, err != nil)
				if err == nil {
					model[name] = stream.Creating
				}
			case 1, 2:
				to := rapid.SampledFrom([]stream.State{stream.Active, stream.Deleting}).Draw(t, "to")
				s, err = s.WithState(name, to)
				require.Equal(t, !known, err != nil)
				if known {
					model[name] = to
				}
			default:
				s, err = s.Without(name)
				require.Equal(t, !known, err != nil)
				delete(model, name)
			}
			require.Len(t, s.Groups, len(model))
			require.True(t, slices.IsSortedFunc(s.Groups, func(a, b stream.Group) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) }))
			for _, g := range s.Groups {
				require.Equal(t, model[g.Name], g.State)
			}
			changed := !slices.Equal(before.Groups, s.Groups)
			require.Equal(t, changed, s.MetadataVersion == before.MetadataVersion+1)
			require.Equal(t, !changed, s.MetadataVersion == before.MetadataVersion)
		}
	})
}
