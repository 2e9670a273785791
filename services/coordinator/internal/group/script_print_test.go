package group_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

func (w *world) replyText(r group.Reply) string {
	a := r.Response
	text := fmt.Sprintf("%s %s e%d v%d assigned=%v pending=%v", a.MemberID, a.Status, a.MemberEpoch, a.MetadataVersion,
		indexes(a.Assignment.AssignedShards), indexes(a.Assignment.PendingShards))
	switch {
	case r.Beat >= 0:
		text += " renewed"
	case a.LeaseMs > 0:
		text += fmt.Sprintf(" lease=%dms", a.LeaseMs)
	}
	if a.HeartbeatIntervalMs != w.cfg.HeartbeatInterval.Milliseconds() {
		text += fmt.Sprintf(" hint=%dms", a.HeartbeatIntervalMs)
	}
	if a.RetryAfterMs != nil {
		text += fmt.Sprintf(" retry=%dms", *a.RetryAfterMs)
	}
	if a.Reason != "" {
		text += " " + string(a.Reason)
	}
	return text
}

func (w *world) show() string {
	g := w.g
	var b strings.Builder
	fmt.Fprintf(&b, "group epoch %d assignment %d version %d counter %d lineage %s", g.GroupEpoch, g.AssignmentEpoch,
		g.MetadataVersion, g.EpochCounter, g.Lineage)
	if g.BarrierUntil != 0 {
		fmt.Fprintf(&b, " barrier %dms", g.BarrierUntil-w.now)
	}
	if g.GraceUntil > w.now {
		fmt.Fprintf(&b, " grace %dms", g.GraceUntil-w.now)
	}
	if g.Round != nil {
		fmt.Fprintf(&b, " round v%d", g.Round.OpenedVersion)
	}
	if g.LayoutVersion != 0 {
		fmt.Fprintf(&b, " layout %d", g.LayoutVersion)
	}
	b.WriteString("\n")
	for shard, h := range g.Holds {
		fmt.Fprintf(&b, "  %d%s -> %s%s\n", shard, shardText(g, shard), orNone(g.Target[shard]), w.holdText(h))
	}
	for _, m := range g.Members {
		b.WriteString(w.memberText(m))
	}
	return b.String()
}

// shardText says what is special about a shard.
func shardText(g *group.Group, shard int) string {
	text := ""
	switch {
	case shard >= g.ReadCount():
		text = " outside"
	case !g.Open(shard):
		text = " closed"
	case shard >= g.ShardCount:
		text = " removed"
	}
	if slices.Contains(g.Lost, shard) {
		text += " lost"
	}
	return text
}

func (w *world) holdText(h group.Hold) string {
	text := ""
	if h.Member != "" {
		text += " held by " + h.Member
	}
	if h.Told {
		text += " told to drop"
	}
	if h.Lingers != 0 {
		text += fmt.Sprintf(" lingers %dms", h.Lingers-w.now)
	}
	return text
}

func (w *world) memberText(m group.Member) string {
	live := w.live[m.ID]
	text := fmt.Sprintf("  %s %s e%d joined e%d lease %dms seq %d", m.ID, m.State, m.Epoch, m.JoinEpoch,
		live.Deadline-w.now, live.Sequence)
	if m.DropBy != 0 {
		text += fmt.Sprintf(" drop by %dms", m.DropBy-w.now)
	}
	if live.SuccessorAt != 0 {
		text += " successor " + orNone(live.Successor)
	}
	return text + "\n"
}

func stepText(out group.Output) string {
	var b strings.Builder
	for _, c := range out.Changes {
		fmt.Fprintln(&b, "  "+changeText(c))
	}
	if len(out.Unmoved) > 0 {
		fmt.Fprintf(&b, "  relies on liveness of %s\n", strings.Join(slices.Sorted(maps.Keys(out.Unmoved)), " "))
	}
	if out.OrderErr != nil {
		fmt.Fprintf(&b, "  refused: %v\n", out.OrderErr)
	}
	if out.Next == nil {
		fmt.Fprintln(&b, "  no commit")
	}
	return b.String()
}

func changeText(c group.Change) string {
	text := string(c.Cause)
	if c.Shard >= 0 {
		text += " " + strconv.Itoa(c.Shard)
	}
	if c.Member != "" {
		text += " " + c.Member
	}
	return text
}

func (w *world) clockText() string {
	return fmt.Sprintf("now +%v", time.Duration(w.now-start)*time.Millisecond)
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func indexes(ids []protocol.ShardID) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = id.ShardIndex
	}
	return list
}
