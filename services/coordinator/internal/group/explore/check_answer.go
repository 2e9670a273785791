package explore

import (
	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkRepeat is I7 (A1): the same request again gets the same decision without a commit.
func (w *World) checkRepeat(in group.Input, out group.Output) {
	if len(in.Heartbeats) != 1 || in.Heartbeats[0].Sequence == 0 {
		return
	}
	if l, _ := w.store.live.get(in.Heartbeats[0].MemberID); l.Deadline == 0 {
		return // its liveness is lost: nobody can tell that it repeats
	}
	repeat := group.Input{
		Now: in.Now, Fresh: true, Live: w.store.live.fill(w.env.live[1]), ServedAt: w.store.servedAt,
		Identity: in.Identity, Nonce: "again", Heartbeats: in.Heartbeats,
	}
	again := w.step(w.store.g, repeat)
	if again.Next != nil && w.dueAnyhow(repeat) {
		return // what another coordinator heard meanwhile has made something due
	}
	first, second := out.Replies[0].Response, again.Replies[0].Response
	if again.Next != nil {
		w.violated("I7", "the same request of %s makes a second commit: %s", second.MemberID, outcome(again))
	}
	if first.Status != second.Status || first.MemberEpoch != second.MemberEpoch || !sameDecision(first, second) &&
		first.Lineage == second.Lineage {
		w.violated("I7", "the same request again: %s, at first %s", answerText(second), answerText(first))
	}
	if again.Replies[0].Beat >= 0 {
		w.violated("I7", "the same request of %s renews again", second.MemberID)
	}
}

// dueAnyhow tells whether the step makes a commit also when it hears nothing.
func (w *World) dueAnyhow(in group.Input) bool {
	in.Heartbeats = nil
	return w.step(w.store.g, in).Next != nil
}

// checkAnswer is I2 and A3: an answer lets a member read only what is recorded as its own
// in this lineage, and no answer is OK while the barrier is up.
func (w *World) checkAnswer(req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	g := w.store.g
	for _, id := range resp.Assignment.AssignedShards {
		h := holdOf(g, id.ShardIndex)
		if h.Member != req.MemberID || h.Incarnation != req.Incarnation || h.Lingers != 0 || h.Told || resp.Lineage != g.Lineage {
			w.violated("I2", "%s is given shard %d without a recorded grant: %+v", req.MemberID, id.ShardIndex, h)
		}
	}
	if g.BarrierUntil == 0 {
		return
	}
	w.visit("barrier")
	if resp.Status == protocol.StatusOK {
		w.violated("I8", "%s is answered OK while the barrier is up", req.MemberID)
	}
	if req.Incarnation == "" && len(resp.Assignment.AssignedShards) > 0 {
		w.violated("I8", "the old client %s is shown shards while the barrier is up (H6)", req.MemberID)
	}
}

// checkAnswerOrder is I5: what a client sees never falls, except by SYNC_METADATA.
func (w *World) checkAnswerOrder(p *process, resp *protocol.HeartbeatResponse) {
	sync := resp.Status == protocol.StatusSyncMetadata
	switch {
	case sync || p.seenEpoch == 0:
	case p.seenLineage != resp.Lineage && !p.isOld():
		w.violated("I5", "%s goes from %s to %s by %s", p.name, p.seenLineage, resp.Lineage, resp.Status)
	case resp.MemberEpoch < p.seenEpoch || resp.MetadataVersion < p.seenVersion:
		w.violated("I5", "%s falls from e%d v%d to e%d v%d", p.name, p.seenEpoch, p.seenVersion, resp.MemberEpoch, resp.MetadataVersion)
	}
	p.seenLineage, p.seenEpoch, p.seenVersion = resp.Lineage, resp.MemberEpoch, resp.MetadataVersion
}

// blame notes refusals of members that keep their lease and did nothing wrong (V1).
func (w *World) blame(p *process, req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	refused := resp.Status == protocol.StatusFencedMemberEpoch || resp.Status == protocol.StatusUnknownMemberID
	if !refused || p.fences != w.fencesOf(p.id) || p.leaving || p.parting != 0 || req.MemberEpoch <= 0 ||
		!w.leased(p) || p.misbehaved || p.losses != w.losses {
		return
	}
	if resp.Reason == protocol.ReasonUnknownGroup {
		return // M6
	}
	if w.givesBack(p) && (resp.Reason == protocol.ReasonRebalanceOver || w.excusedAny(p)) {
		return // H3c, perhaps with a twin let in since (J4)
	}
	w.violated("V1", "%s is refused without a cause: %s", p.name, answerText(resp))
}

// excusedAny tells whether nobody waits for one of the handlers that the process ends.
func (w *World) excusedAny(p *process) bool {
	for shard := range w.env.setup.most() {
		s, found := p.sdk.Shard(shard)
		if found && s.Phase != member.Active && p.excused&(1<<shard) != 0 {
			return true
		}
	}
	return false
}
