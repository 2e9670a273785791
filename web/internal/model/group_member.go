package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Details of members' states that mean something of their own (wire contract, Meaning of
// states; protocol J4 to J6).
const (
	detailSuspended = "SUSPENDED"
	detailWaiting   = "WAITING"
	detailExpired   = "EXPIRED"
)

// shardsListed is how many of a member's shards are listed.
const shardsListed = 12

// MemberList is the members of a group, those first that somebody should look at.
type MemberList struct {
	// Known tells that the members could be asked for.
	Known bool
	Lines []MemberLine
	Pager Pager
	// At is of when ages and leases are.
	At Stamp
}

// MemberLine is one member.
type MemberLine struct {
	// ID is the whole id, Short what is shown of a long one, Place which line it is on.
	ID, Short, Place string
	Name             string
	// State is in words, Meaning a sentence, empty for an active one.
	State, Tone, Meaning string
	Epoch                string
	// Left is what was left of the lease of Lease, Heartbeat how long ago it was heard.
	Left, Lease, Heartbeat string
	// Busy of Capacity handlers are at work.
	Busy, Capacity string
	// Now and Wanted count its shards; Shards lists those it has, Wants those it is to have
	// beside them, Returns those it has to release.
	Now, Wanted            string
	Shards, Wants, Returns string
	Deadline               Stamp
	Incarnation, Successor string
	// OldClient has no lease of its own: it may read late (H6).
	OldClient bool
}

func (m *groupMaker) memberList() MemberList {
	list := MemberList{Known: m.details.Members != nil, At: stampOf(m.details.At)}
	shown, pager := paged(m.details.Members, m.query.Members, linesShown, func(at string) string {
		query := m.query
		query.Members, _ = strconv.Atoi(at)
		return m.address(query) + "#members"
	})
	list.Pager = pager
	for i := range shown {
		line := m.memberLine(&shown[i])
		line.Place = strconv.Itoa(i)
		list.Lines = append(list.Lines, line)
	}
	return list
}

// SortMembers puts those first that somebody should look at.
func SortMembers(members []protocol.MemberMetadata) {
	slices.SortFunc(members, func(a, b protocol.MemberMetadata) int {
		_, toneA, _ := memberWords(&a)
		_, toneB, _ := memberWords(&b)
		return cmp.Or(cmp.Compare(urgency(toneA), urgency(toneB)), cmp.Compare(a.MemberID, b.MemberID))
	})
}

func (m *groupMaker) memberLine(member *protocol.MemberMetadata) MemberLine {
	line := MemberLine{
		ID: member.MemberID, Short: cut(member.MemberID, 2*idShown), Name: cut(member.MemberName, idShown), Epoch: strconv.FormatInt(member.MemberEpoch, 10),
		Busy: Count(int64(member.ActiveConsumerWorkers)), Capacity: Count(int64(member.RuntimeMaxConcurrency)),
		Now: Count(int64(len(member.CurrentAssignment))), Wanted: Unknown,
		Shards: shardsText(member.CurrentAssignment), Returns: shardsText(member.Revoking),
		Incarnation: cut(member.Incarnation, idShown), OldClient: member.Incarnation == "",
		Left: Unknown, Lease: Unknown, Heartbeat: Unknown,
	}
	line.State, line.Tone, line.Meaning = memberWords(member)
	if member.Successor != nil {
		line.Successor = processName(*member.Successor)
	}
	if member.RebalanceDeadlineAt != nil {
		line.Deadline = stampOf(*member.RebalanceDeadlineAt)
	}
	if m.details.Assignments != nil {
		wanted := m.details.Assignments.TargetAssignment[member.MemberID]
		line.Wanted = Count(int64(len(wanted)))
		line.Wants = shardsText(without(wanted, member.CurrentAssignment))
	}
	m.lease(&line, member)
	return line
}

// lease fills in what is left of the lease, of the store's clock as the monitor's round saw it.
func (m *groupMaker) lease(line *MemberLine, member *protocol.MemberMetadata) {
	heard, ends, now := member.LastHeartbeatAt, member.MemberLeaseExpiresAt, m.details.At
	if heard.UnixMilli() <= 0 || ends.UnixMilli() <= 0 || now.IsZero() { // never heard
		return
	}
	line.Heartbeat = Duration(max(0, now.Sub(heard.Time)).Round(time.Millisecond))
	line.Lease = Duration(max(0, ends.Sub(heard.Time)))
	line.Left = "over"
	if left := ends.Sub(now.Time); left > 0 {
		line.Left = Duration(min(left, ends.Sub(heard.Time)))
	}
}

// without returns the shards of a list that another one has not.
func without(list, other []protocol.ShardID) []protocol.ShardID {
	has := make(map[int]bool, len(other))
	for _, each := range other {
		has[each.ShardIndex] = true
	}
	var rest []protocol.ShardID
	for _, each := range list {
		if !has[each.ShardIndex] {
			rest = append(rest, each)
		}
	}
	return rest
}

// shardsText lists the first of some shards.
func shardsText(shards []protocol.ShardID) string {
	words := make([]string, 0, shardsListed+1)
	for i, each := range shards {
		if i == shardsListed {
			words = append(words, "and "+Count(int64(len(shards)-i))+" more")
			break
		}
		words = append(words, strconv.Itoa(each.ShardIndex))
	}
	return strings.Join(words, ", ")
}

// memberWords says what the state of a member means (wire contract, Meaning of states).
func memberWords(member *protocol.MemberMetadata) (words, tone, meaning string) {
	switch member.State {
	case protocol.MemberActive:
		return "active", "good", ""
	case protocol.MemberStarting:
		return "starting", "busy", "It has asked to join, and not reported since."
	case protocol.MemberLeaving:
		if member.StateDetail == detailSuspended {
			return "restarting", "busy", "It said that it comes back soon: its shards are kept for it until its lease is over (J5)."
		}
		return "leaving", "busy", "It releases its shards and goes (J5)."
	case protocol.MemberExpired:
		if member.StateDetail == detailWaiting {
			return "being taken over", "busy", "Its lease is over, and another process takes its id over with its own next heartbeat (J4)."
		}
		return "expired", "warn", "It was not heard for a whole lease (H3). Its record stays for ten minutes (J6)."
	case protocol.MemberFenced:
		return "fenced", "bad", "It read what was not its own, did not release in time, or an operator threw it out. What it held is blocked until its lease is over (H4)."
	default:
		return Words(string(member.State)), "warn", ""
	}
}
