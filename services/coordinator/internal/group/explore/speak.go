package explore

import (
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

func sameDecision(a, b *protocol.HeartbeatResponse) bool {
	return a.Status == b.Status && a.MemberEpoch == b.MemberEpoch && a.Lineage == b.Lineage &&
		slices.Equal(a.Assignment.AssignedShards, b.Assignment.AssignedShards) &&
		slices.Equal(a.Assignment.PendingShards, b.Assignment.PendingShards)
}

// remember keeps what is known of the store after a write.
func (w *World) remember(c *coordinator, on *view, out group.Output, done stored) {
	next := *on
	next.clock, next.token, next.servedAt = done.clock, w.store.token, done.clock
	if out.Next != nil {
		next.g = out.Next
	}
	for i, b := range out.Beats {
		l, _ := next.live.get(b.Request.MemberID)
		if l.Deadline = done.deadlines[i]; done.applied[i] {
			l.Incarnation, l.Sequence, l.RequestID = b.Request.Incarnation, b.Request.Sequence, b.Request.RequestID
			l.SyncVersion = b.SyncVersion
		}
		next.live = next.live.with(b.Request.MemberID, l)
	}
	c.cache = &next
	c.seen = group.Sighting{Lineage: next.g.Lineage, Revision: next.g.MetadataVersion}
}

// answer sends the replies, each with the lease it rests on (E5).
func (w *World) answer(pod int, msgs []message, out group.Output, done stored) {
	for i, r := range out.Replies {
		if r.Beat >= 0 && renews(r.Response.Status) {
			left := time.Duration(done.deadlines[r.Beat]-done.clock) * time.Millisecond
			r.Response.LeaseMs = w.env.cfg.LeaseFor(left).Milliseconds()
		}
		w.checkAnswer(msgs[i].req, r.Response)
		if renews(r.Response.Status) {
			w.checkClosed(w.damage, "an answer that lets "+r.Response.MemberID+" on")
		}
		if w.env.logging {
			w.logf("%s answers %s", podName(pod), answerText(r.Response))
		}
		w.visit(string(r.Response.Status))
		w.visitReason(r.Response)
		w.post(message{life: msgs[i].life, req: msgs[i].req, resp: r.Response})
	}
}

func (w *World) visitReason(resp *protocol.HeartbeatResponse) {
	if resp.Reason == protocol.ReasonMemberIDInUse {
		w.visit("twin refused")
	}
}

func renews(status protocol.HeartbeatStatus) bool {
	return status == protocol.StatusOK || status == protocol.StatusSyncMetadata || status == protocol.StatusRevokePending
}

func requestsIn(msgs []message) []*protocol.HeartbeatRequest {
	list := make([]*protocol.HeartbeatRequest, len(msgs))
	for i, m := range msgs {
		list[i] = m.req
	}
	return list
}
