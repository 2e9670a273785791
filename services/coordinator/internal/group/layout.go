package group

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/assign"
)

// Layout is what the stream's record says about shards; groups copy it (L1).
type Layout struct {
	// Version rises with every change of the layout.
	Version int64
	// ShardCount is the routing set 0 … ShardCount-1. The reading set is 0 … ReadCount-1
	// without Closed: what is not in the routing set is being removed.
	ShardCount, ReadCount int
	// Closed are removed shards that nobody is to read any more: proven empty (L5).
	Closed []int
	// Lost are shards that are missing in Redis: nothing is granted on them (L12).
	Lost []int
	// Cause says why the layout changed, RequestID who asked, if anybody did.
	Cause     Cause
	RequestID string
}

// Whole returns the layout of a stream with that many shards that nothing is done to.
func Whole(shards int) Layout { return Layout{ShardCount: shards, ReadCount: shards} }

// LayoutOf returns the layout that the group works on.
func (g *Group) LayoutOf() Layout {
	return Layout{
		Version: g.LayoutVersion, ShardCount: g.ShardCount, ReadCount: g.ReadCount(), Closed: g.Closed, Lost: g.Lost,
	}
}

// ReadCount is the end of the reading set.
func (g *Group) ReadCount() int { return g.ShardCount + g.Removed }

// Open tells whether a shard is of the reading set: somebody should read it.
func (g *Group) Open(shard int) bool {
	if shard < 0 || shard >= g.ReadCount() {
		return false
	}
	_, closed := slices.BinarySearch(g.Closed, shard)
	return !closed
}

// Settled tells whether every open shard is held by its owner, if anybody is alive, and
// nothing is handed over, lingers or is being corrected (L2).
func (g *Group) Settled() bool {
	if g.Round != nil || g.BarrierUntil != 0 {
		return false
	}
	for shard, h := range g.Holds {
		if h.Told || h.Lingers != 0 || h.Member != g.Target[shard] && g.isActive(g.Target[shard]) {
			return false
		}
	}
	return true
}

// adopt copies the stream's layout (L1). A hold never ends by it: those on shards that
// are closed are told to drop (H2, L5), and the list of holds shrinks when they have ended.
func (s *step) adopt() {
	l := s.in.Layout
	if l == nil || l.Version <= s.g.LayoutVersion {
		return
	}
	g := s.edit()
	g.LayoutVersion, g.ShardCount, g.Removed = l.Version, l.ShardCount, l.ReadCount-l.ShardCount
	g.Closed, g.Lost = slices.Clone(l.Closed), slices.Clone(l.Lost)
	for len(g.Target) < l.ReadCount {
		g.Target, g.Holds = append(g.Target, ""), append(g.Holds, Hold{})
	}
	s.recompute = true
	s.record(Change{Cause: l.Cause, Shard: -1, RequestID: l.RequestID})
}

// target computes who should read what. The shards that stay are balanced among
// themselves, so that they move once, when the count changes, and not with every shard
// that is closed. One that is removed stays with its owner as long as that lives: it only
// has to be read to its end (S1, L3).
func (g *Group) target() []string {
	members := g.eligible()
	next := make([]string, len(g.Target))
	copy(next, assign.Sticky{}.Assign(assign.Input{Owners: g.Target[:g.ShardCount], Members: members}))
	var orphans []int
	for shard := g.ShardCount; shard < g.ReadCount(); shard++ {
		owner := g.Target[shard]
		switch _, live := slices.BinarySearch(members, owner); {
		case !g.Open(shard):
		case live:
			next[shard] = owner
		default:
			orphans = append(orphans, shard)
		}
	}
	for i, owner := range (assign.Sticky{}).Assign(assign.Input{Owners: make([]string, len(orphans)), Members: members}) {
		next[orphans[i]] = owner
	}
	return next
}

// trim shortens the lists of shards to the reading set, as far as holds allow.
func (s *step) trim() {
	n := len(s.g.Holds)
	for n > s.g.ReadCount() && !s.g.Holds[n-1].held() {
		n--
	}
	if n < len(s.g.Holds) {
		g := s.edit()
		g.Target, g.Holds = g.Target[:n:n], g.Holds[:n:n]
	}
}

// lost tells whether a shard is missing in Redis (L12).
func (g *Group) lost(shard int) bool {
	_, found := slices.BinarySearch(g.Lost, shard)
	return found
}
