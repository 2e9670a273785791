package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// numbered names the n-th of something.
func numbered(what string, n int) string { return what + strconv.Itoa(n) }

func indexes(ids []protocol.ShardID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = id.ShardIndex
	}
	return list
}

func requestText(r *protocol.HeartbeatRequest) string {
	return fmt.Sprintf("%s e%d v%d %s seq %d own %v rev %v", r.RequestID, r.MemberEpoch, r.MetadataVersion, r.Lineage,
		r.Sequence, indexes(r.OwnedShards), r.RevokingShards)
}

func answerText(r *protocol.HeartbeatResponse) string {
	return fmt.Sprintf("%s %s e%d v%d %s lease %d assigned %v pending %v %s", r.ResponseTo, r.Status, r.MemberEpoch,
		r.MetadataVersion, r.Lineage, r.LeaseMs, indexes(r.Assignment.AssignedShards),
		indexes(r.Assignment.PendingShards), r.Reason)
}

func outcome(out group.Output) string {
	if out.Next == nil {
		return "touch"
	}
	words := make([]string, 0, len(out.Changes))
	for _, c := range out.Changes {
		word := string(c.Cause)
		if c.Shard >= 0 {
			word += " " + strconv.Itoa(c.Shard)
		}
		words = append(words, strings.TrimSpace(word+" "+c.Member))
	}
	return fmt.Sprintf("v%d %s", out.Next.MetadataVersion, strings.Join(words, ", "))
}

// stateText shows the group, its store and who reads what.
func (w *World) stateText() string {
	g := w.store.g
	var b strings.Builder
	fmt.Fprintf(&b, "v%d counter %d %s barrier %d round %v grace %d layout %d", g.MetadataVersion, g.EpochCounter,
		g.Lineage, g.BarrierUntil, g.Round != nil, g.GraceUntil, g.LayoutVersion)
	for shard, h := range g.Holds {
		fmt.Fprintf(&b, "\n  %d -> %q %+v", shard, g.Target[shard], h)
	}
	for _, m := range g.Members {
		l, _ := w.store.live.get(m.ID)
		fmt.Fprintf(&b, "\n  %s %s of %q e%d joined e%d lease %d seq %d", m.ID, m.State, m.Incarnation, m.Epoch, m.JoinEpoch,
			l.Deadline-w.clock(), l.Sequence)
	}
	for _, p := range w.procs {
		fmt.Fprintf(&b, "\n  process %s of %s", p.name, p.id)
		for shard := range w.env.setup.most() {
			if w.mayRead(p, shard) {
				fmt.Fprintf(&b, " reads %d", shard)
			}
		}
	}
	return b.String()
}

// String shows a world for a report of a failing test.
func (w *World) String() string {
	var b strings.Builder
	w.each(func(w *World) { b.WriteString(w.ofGroup() + w.houseText() + "\n") })
	return b.String()
}

func (w *World) houseText() string {
	var b strings.Builder
	b.WriteString(w.stateText())
	for _, m := range w.bag {
		b.WriteString("\n  " + requestText(m.req))
		if m.resp != nil {
			b.WriteString(" => " + answerText(m.resp))
		}
	}
	for pod := range w.coords {
		c := &w.coords[pod]
		fmt.Fprintf(&b, "\n  %s cached %v seen %v", podName(pod), c.cache != nil, c.seen)
		if c.pending != nil {
			fmt.Fprintf(&b, " pending on v%d, drive %v", c.pending.on.g.MetadataVersion, w.drives[pod] != nil)
		}
	}
	return b.String()
}
