package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkHold is I4, H2 and H3: a hold ends or lingers for a reason that the rules name,
// judged by the input alone, and a grant is of a free shard outside barrier and round.
func (w *World) checkHold(prev *group.Group, in group.Input, out group.Output, shard int) {
	next := out.Next
	was, is := holdOf(prev, shard), holdOf(next, shard)
	same := was.Member == is.Member && was.Incarnation == is.Incarnation
	switch {
	case same && was.Lingers == is.Lingers && (was.Lingers != 0 || !regranted(prev, next, was.Member, in)):
		return
	case same && was.Lingers == 0 && is.Lingers != 0:
		if live := in.Live[was.Member]; live.Deadline != 0 && is.Lingers != live.Deadline {
			w.violated("I4", "shard %d lingers until %d, the stored deadline is %d", shard, is.Lingers, live.Deadline)
		}
		return
	}
	if was.Member != "" && !mayEnd(prev, in, out, shard) {
		w.violated("I4", "the hold of %s on shard %d ends without a reason: %+v -> %+v", was.Member, shard, was, is)
	}
	if is.Member == "" {
		return
	}
	if m, _ := next.Find(is.Member); m.State != group.Active || m.Incarnation != is.Incarnation || targetOf(next, shard) != is.Member {
		w.violated("I4", "shard %d is granted to %+v, target %s", shard, is, targetOf(next, shard))
	}
	if slices.Contains(next.Lost, shard) {
		w.violated("I4", "lost shard %d is granted (L12)", shard)
	}
	if next.BarrierUntil != 0 || next.Round != nil {
		w.violated("I4", "shard %d is granted during a barrier or round", shard)
	}
}

// regranted tells whether the member began a new life in the commit, so that a hold which
// looks the same is a new grant.
func regranted(prev, next *group.Group, id string, in group.Input) bool {
	was, _ := prev.Find(id)
	is, _ := next.Find(id)
	joins := slices.ContainsFunc(in.Heartbeats, func(r *protocol.HeartbeatRequest) bool { return r.MemberID == id && r.MemberEpoch == 0 })
	return joins && was.JoinEpoch != is.JoinEpoch && next.Lineage == prev.Lineage
}

// mayEnd tells whether the rules let a hold end in a step with this input (H3, H4, J3, J5).
func mayEnd(prev *group.Group, in group.Input, out group.Output, shard int) bool {
	h := holdOf(prev, shard)
	m, _ := prev.Find(h.Member)
	live := in.Live[h.Member]
	known := live.Deadline != 0 // the mark of a successor alone says nothing
	lingers := slices.ContainsFunc(out.Changes, func(c group.Change) bool {
		return c.Member == h.Member && (c.Cause == group.CauseFenceReport || c.Cause == group.CauseFenceTimeout || c.Cause == group.CauseSuspend || c.Cause == group.CauseAdmin)
	})
	barrier := in.Now < prev.BarrierUntil && (in.Order == nil || in.Order.Kind != group.OrderUnbar)
	switch {
	case h.Lingers == 0 && known && in.Now >= live.Deadline && lingers:
		return true // H4: but its deadline is over already
	case barrier:
	case h.Lingers != 0 && in.Now >= h.Lingers:
		return true
	case h.Lingers == 0 && known && in.Now >= live.Deadline && in.Now >= prev.GraceUntil:
		return true // H3b
	case h.Told && m.DropBy != 0 && in.Now >= m.DropBy:
		return true // H3c
	}
	return slices.ContainsFunc(in.Heartbeats, func(r *protocol.HeartbeatRequest) bool {
		if r.MemberID != h.Member || r.Incarnation != h.Incarnation {
			return false
		}
		if r.Sequence > 0 && live.Incarnation == r.Incarnation && r.Sequence <= live.Sequence {
			return false
		}
		switch {
		case r.MemberEpoch == 0:
			return r.Incarnation != "" // J3
		case h.Lingers != 0:
			return false
		case r.MemberEpoch < 0:
			return r.Incarnation != "" && !running(r, shard) // J5
		default:
			return r.MemberEpoch == m.Epoch && h.Told && !running(r, shard) // R2
		}
	})
}

// running tells whether a report names the shard as read or still being given back.
func running(r *protocol.HeartbeatRequest, shard int) bool {
	return slices.Contains(indexes(r.OwnedShards), shard) ||
		slices.ContainsFunc(r.RevokingShards, func(v protocol.RevokingShard) bool {
			return v.Shard.ShardIndex == shard && (v.State != protocol.Revoked || v.InFlight > 0)
		})
}
