package group_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// adopt lets the world's group copy a layout.
func (w *world) adopt(l group.Layout) {
	w.layout = &l
	w.apply(nil, w.snap())
}

// L2: a group is settled when every owner that is there has its shards and nothing is on its
// way; a resharding ends then.
func TestL2Settled(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		bring func(*world)
		want  bool
	}{
		"nobody is there":            {func(*world) {}, true},
		"one has everything":         {func(w *world) { w.beat("A") }, true},
		"a hand-over is under way":   {func(w *world) { w.beat("A"); w.beat("B") }, false},
		"a hand-over is done":        {func(w *world) { w.beat("A"); w.beat("B"); w.beat("A"); w.beat("A own=0 rev=1:REVOKED") }, true},
		"a shard is closed and held": {func(w *world) { w.beat("A"); w.adopt(closing(2)) }, false},
		"a shard is closed and free": {func(w *world) { w.beat("A"); w.adopt(closing(2)); w.beat("A"); w.beat("A own=0 rev=1:REVOKED") }, true},
		"a closed shard and nobody":  {func(w *world) { w.adopt(closing(2)) }, true},
		"a hold lingers":             {func(w *world) { w.beat("A"); w.beat("A own=0+1+7") }, false},
		"a lost shard waits": {func(w *world) {
			w.adopt(group.Layout{Version: 2, ShardCount: 2, ReadCount: 2, Lost: []int{1}})
			w.beat("A")
		}, false},
		"the owner is away for a while": {func(w *world) { w.beat("A"); w.beat("A epoch=-2 own=none") }, true},
		"the barrier is up":             {func(w *world) { w.identity = "store-2"; w.apply(nil, w.snap()) }, false},
		"the barrier of a new life is up": {func(w *world) {
			w.g = group.New(w.cfg, group.Birth{Layout: group.Whole(2), Lineage: "L", Now: w.now, Barrier: true})
		}, false},
		"a round is open":                {func(w *world) { w.beat("A"); w.identity = "store-2"; w.apply(nil, w.snap()); unbar(w) }, false},
		"the round is over":              {func(w *world) { w.identity = "store-2"; w.apply(nil, w.snap()); unbar(w) }, true},
		"somebody left and all is moved": {func(w *world) { w.beat("A"); w.beat("B"); w.beat("B epoch=-1 own=none") }, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newField(t, 2)
			test.bring(w)
			require.Equal(t, test.want, w.g.Settled(), w.show())
		})
	}
}

// closing is a layout in which the second of two shards is closed.
func closing(version int64) group.Layout {
	return group.Layout{Version: version, ShardCount: 1, ReadCount: 2, Closed: []int{1}, Cause: group.CauseSeal}
}

func unbar(w *world) {
	w.order = &group.Order{Kind: group.OrderUnbar}
	w.apply(nil, w.snap())
}

// L3, L5: what is of the reading set.
func TestL3Open(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{Layout: group.Layout{Version: 5, ShardCount: 1, ReadCount: 4, Closed: []int{1, 3}}})
	require.Equal(t, 4, g.ReadCount())
	open := map[int]bool{-1: false, 0: true, 1: false, 2: true, 3: false, 4: false, 100: false}
	for shard, want := range open {
		require.Equal(t, want, g.Open(shard), "shard %d", shard)
	}
}

// L1: a group has its layout for itself, from its birth and from each copy.
func TestL1LayoutsAreCopied(t *testing.T) {
	t.Parallel()
	l := group.Layout{Version: 3, ShardCount: 1, ReadCount: 4, Closed: []int{2}, Lost: []int{0, 3}, Cause: group.CauseSeal}
	unspoilt := group.Layout{Version: 3, ShardCount: 1, ReadCount: 4, Closed: []int{2}, Lost: []int{0, 3}}
	born := group.New(group.DefaultConfig(), group.Birth{Layout: l})
	w := newField(t, 2)
	w.adopt(l)
	before := w.g
	l.Closed[0], l.Lost[0] = 1, 1
	require.Equal(t, unspoilt, born.LayoutOf())
	require.Equal(t, unspoilt, before.LayoutOf())

	w.beat("A")
	w.g.Closed[0], w.g.Lost[0] = 3, 2
	require.Equal(t, unspoilt, before.LayoutOf(), "a step shares it with its input")
}

// E6, L1: neither a layout nor an order is followed on a cached state.
func TestE6ErrandsNeedAFreshState(t *testing.T) {
	t.Parallel()
	w := newField(t, 2)
	w.beat("A")
	errands := map[string]group.Input{
		"layout": {Layout: &group.Layout{Version: 2, ShardCount: 4, ReadCount: 4}},
		"order":  {Order: &group.Order{Kind: group.OrderFence, Member: "A"}},
	}
	for name, in := range errands {
		in.Now, in.Live, in.Heartbeats = w.now, w.live, requestsOf(t, w, "A")
		out := group.Step(w.cfg, w.g, in)
		require.False(t, out.Steady, name)
		require.Nil(t, out.Next, name)
		in.Layout, in.Order = nil, nil
		require.True(t, group.Step(w.cfg, w.g, in).Steady, "without it the same step is steady")
	}
}

// L3: removed shards whose owner is gone are shared by those who live; nobody else's move.
func TestL3RemovedShardsOfTheGoneAreShared(t *testing.T) {
	t.Parallel()
	w := newField(t, 9)
	for range 3 {
		for _, id := range []string{"A", "B", "C"} {
			w.beat(id) // all report, and release what they were told to drop
		}
	}
	w.adopt(group.Layout{Version: 2, ShardCount: 3, ReadCount: 9, Cause: group.CauseScale})
	before := slices.Clone(w.g.Target)
	removed := func(target []string, id string) []int {
		var shards []int
		for shard := 3; shard < 9; shard++ {
			if target[shard] == id {
				shards = append(shards, shard)
			}
		}
		return shards
	}
	gone := removed(before, "C")
	require.NotEmpty(t, gone)
	w.beat("C epoch=-1 own=none")
	require.Empty(t, removed(w.g.Target, "C"))
	for _, id := range []string{"A", "B"} {
		require.Subset(t, removed(w.g.Target, id), removed(before, id), "%s keeps what it reads", id)
		taken := len(removed(w.g.Target, id)) - len(removed(before, id))
		require.LessOrEqual(t, taken, (len(gone)+1)/2, "%s takes its share", id)
	}
}

// H4: the recorder's word for what an operator orders, and refusals change nothing.
func TestH4RefusedOrdersChangeNothing(t *testing.T) {
	t.Parallel()
	refused := map[string]struct {
		order group.Order
		err   error
	}{
		"nobody of that name": {group.Order{Kind: group.OrderFence, Member: "nobody"}, group.ErrNotLive},
		"left long ago":       {group.Order{Kind: group.OrderFence, Member: "B"}, group.ErrNotLive},
		"no barrier":          {group.Order{Kind: group.OrderUnbar}, group.ErrNoBarrier},
	}
	for name, test := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newField(t, 2)
			w.beat("A")
			w.beat("B")
			w.beat("B epoch=-1 own=none")
			out := group.Step(w.cfg, w.g, group.Input{
				Now: w.now, Fresh: true, Live: w.live, ServedAt: w.now, Identity: w.identity, Nonce: "N", Order: &test.order,
			})
			require.ErrorIs(t, out.OrderErr, test.err)
			require.Nil(t, out.Next)
			require.Empty(t, out.Changes)
		})
	}
}
