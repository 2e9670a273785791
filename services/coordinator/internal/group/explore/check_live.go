package explore

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkUnmoved is T3: a commit that goes by a member's deadline goes by the one that is stored
// when it is made, also where others have heard the member since it was loaded.
func (w *World) checkUnmoved(prev *group.Group, stored lives, in group.Input, out group.Output) {
	check := func(id string) {
		if l, _ := stored.get(id); l.Deadline != in.Live[id].Deadline {
			w.violated("T3", "%s is judged by the deadline %d, the stored one is %d", id, in.Live[id].Deadline, l.Deadline)
		}
	}
	for shard := range prev.Holds {
		was, is := holdOf(prev, shard), holdOf(out.Next, shard)
		if was.Member == is.Member && was.Lingers == 0 && is.Lingers != 0 {
			check(was.Member)
		}
	}
	for _, c := range out.Changes {
		if m, _ := prev.Find(c.Member); c.Cause == group.CauseExpire && m.State != group.Waiting { // whose lease is over
			check(c.Member)
		}
	}
}

// checkJoin is J4: who was fenced, expired or left may join again at once.
func (w *World) checkJoin(in group.Input, out group.Output) {
	if len(in.Heartbeats) != 1 || in.Heartbeats[0].MemberEpoch != protocol.EpochJoin {
		return
	}
	req, status := in.Heartbeats[0], out.Replies[0].Response.Status
	if status == protocol.StatusFencedMemberEpoch && !repeats(in.Live[req.MemberID], req) {
		w.violated("J4", "%s may not join: %s", req.MemberID, answerText(out.Replies[0].Response))
	}
}

// repeats tells whether the last request that was heard of the member is this one or a later
// one (E5).
func repeats(last group.Liveness, req *protocol.HeartbeatRequest) bool {
	if last.Incarnation != req.Incarnation {
		return false
	}
	return req.Sequence > 0 && req.Sequence <= last.Sequence || req.Sequence == 0 && req.RequestID == last.RequestID
}
