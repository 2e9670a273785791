package model

import (
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Why says why a shard is not read by who should: what is waited for, by when that is over at
// the latest, and what comes then.
type Why struct {
	Text  string
	Until Stamp
	Then  string
	// Since is when the shard was last given or taken away, as far as the history tells.
	Since Stamp
}

// why explains a shard that is not CURRENT; nil for the others.
func (m *groupMaker) why(row protocol.GrafanaShardRow) *Why {
	if row.OwnerState == protocol.OwnerCurrent {
		return nil
	}
	holder, wanted := row.CurrentOwnerMemberIDs, row.TargetOwnerMemberIDs
	var why Why
	switch {
	case holder == "" && wanted == "":
		why = m.whyNobody(row.ShardIndex)
	case holder == "":
		why = m.whyNotGiven(row.ShardIndex, wanted)
	case holder == wanted && row.OwnerState == protocol.OwnerPendingAck:
		why = m.whyNotConfirmed(holder)
	default:
		why = m.whyHeld(row.ShardIndex, holder, wanted)
	}
	why.Since = stampOf(m.changed[row.ShardIndex])
	return &why
}

// whyNobody is a shard that nobody has and nobody is to have.
func (m *groupMaker) whyNobody(shard int) Why {
	switch {
	case slices.Contains(m.group.LostShards, shard):
		return Why{Text: "It is missing in Redis. The coordinator makes it again, and gives it to nobody before (L12)."}
	case shard >= m.group.ShardCount:
		return Why{Text: "It is being removed, and proven empty: it needs no reader (L5)."}
	case m.row.ActiveMembers == 0:
		return Why{Text: "No member is alive that could read it. Start a consumer."}
	default:
		return Why{Text: "It was given to nobody yet; the coordinator does so with the next change."}
	}
}

// whyNotGiven is a shard that nobody has and somebody is to have.
func (m *groupMaker) whyNotGiven(shard int, wanted string) Why {
	name := owners(wanted)
	member := m.member(wanted)
	switch {
	case slices.Contains(m.group.LostShards, shard):
		return Why{Text: "It is missing in Redis. The coordinator makes it again before " + name + " gets it (L12)."}
	case m.group.BarrierUntil != nil:
		return Why{Text: name + " is to read it, and nothing is given away before", Until: stampOf(*m.group.BarrierUntil), Then: "as somebody unknown may still read (M3)."}
	case member == nil:
		return Why{Text: name + " is to read it, and gets it with its next heartbeat."}
	case member.StateDetail == detailSuspended:
		return Why{
			Text: name + " restarts: the shard is kept for it until", Until: stampOf(member.MemberLeaseExpiresAt),
			Then: "or until it is back; then it goes to another one (J5).",
		}
	case member.StateDetail == detailWaiting:
		return Why{Text: "Another process takes the name " + name + " over: it gets the shard with its own next heartbeat (J4)."}
	default:
		return Why{Text: name + " is to read it, and gets it with its next heartbeat."}
	}
}

// whyNotConfirmed is a shard whose new owner has not said yet that it reads.
func (m *groupMaker) whyNotConfirmed(holder string) Why {
	why := Why{Text: owners(holder) + " was given it and has to confirm with a heartbeat that it reads."}
	if member := m.member(holder); member != nil && !member.MemberLeaseExpiresAt.IsZero() {
		why.Text, why.Until = owners(holder)+" was given it and has to confirm with a heartbeat that it reads; unheard, it loses it at", stampOf(member.MemberLeaseExpiresAt)
		why.Then = "(H3)."
	}
	return why
}

// whyHeld is a shard that its holder is to give back (H3, H4).
func (m *groupMaker) whyHeld(shard int, holder, wanted string) Why {
	after := "then it is nobody's."
	switch {
	case wanted == holder:
		after = "then " + owners(wanted) + " gets it again."
	case wanted != "":
		after = "then " + owners(wanted) + " gets it."
	}
	name := owners(holder)
	member := m.member(holder)
	switch {
	case strings.Contains(holder, ","):
		return Why{Text: "More than one member may be reading it: " + name + ". One of them has to stop; " + after}
	case member == nil:
		return Why{Text: name + " has to release it; " + after}
	case !listens(member):
		words, _, _ := memberWords(member)
		return Why{
			Text: name + " is " + words + " and may read on until its lease is over at", Until: stampOf(member.MemberLeaseExpiresAt),
			Then: "(H4); " + after,
		}
	}
	text := name + " has to release it"
	if held := inHand(member, shard); held > 0 {
		text += ", and still works on " + plural(int(held), "record", "of it")
	}
	switch {
	case m.group.BarrierUntil != nil:
		return Why{Text: text + "; its time stands still before", Until: stampOf(*m.group.BarrierUntil), Then: "(H3); " + after}
	case member.RebalanceDeadlineAt != nil:
		return Why{Text: text + ". It is fenced if it has not by", Until: stampOf(*member.RebalanceDeadlineAt), Then: "(H3); " + after}
	default:
		return Why{Text: text + "; " + after}
	}
}

// inHand is how many records of a shard a member says it works on.
func inHand(member *protocol.MemberMetadata, shard int) int64 {
	for _, each := range member.ShardProgress {
		if each.Shard.ShardIndex == shard {
			return each.PendingCount
		}
	}
	return 0
}

// listens tells whether a member's heartbeats count: it can release what it holds.
func listens(member *protocol.MemberMetadata) bool {
	switch member.State {
	case protocol.MemberActive, protocol.MemberStarting:
		return true
	case protocol.MemberLeaving:
		return member.StateDetail != detailSuspended
	case protocol.MemberExpired, protocol.MemberFenced:
		return false
	default:
		return false
	}
}
