package recorder

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// tell puts what the core noted into the words of the flight recorder: notes that differ
// in the shard only become one with their number.
func tell(changes []group.Change, heard []group.Beat) []protocol.EventChange {
	requests := make(map[string]string, len(heard))
	for _, beat := range heard {
		requests[beat.Request.MemberID] = beat.Request.RequestID
	}
	told := []protocol.EventChange{}
	place := make(map[protocol.EventChange]int)
	for _, c := range changes {
		change := protocol.EventChange{Cause: protocol.EventCause(c.Cause), MemberID: c.Member, RequestID: c.RequestID}
		if c.Cause == group.CauseRelease && change.RequestID == "" {
			change.RequestID = requests[c.Member] // who was heard has released by what it said (R2)
		}
		if c.Cause == group.CauseExpire {
			delete(requests, c.Member) // its holds ended by time, whatever came after (H3b)
		}
		at, known := place[change]
		if !known {
			at = len(told)
			place[change] = at
			told = append(told, change)
		}
		if c.Shard >= 0 {
			told[at].Shards++
		}
	}
	return told
}

// leading returns the change that led to the others of its commit: the first one that is
// no mere consequence or bookkeeping, else the first one (T2).
func leading(told []protocol.EventChange) protocol.EventChange {
	minor := []protocol.EventCause{
		protocol.EventForget, protocol.EventIdentity, protocol.EventGrace, protocol.EventBarrierOver, protocol.EventRoundOver,
	}
	for _, change := range told {
		if change.Shards == 0 && !slices.Contains(minor, change.Cause) {
			return change
		}
	}
	for _, change := range told {
		if change.Cause == protocol.EventRelease {
			return change
		}
	}
	if len(told) > 0 {
		return told[0]
	}
	return protocol.EventChange{Cause: protocol.EventOther}
}
