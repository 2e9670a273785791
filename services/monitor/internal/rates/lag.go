package rates

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Lag is how many entries wait to be delivered to a group on a shard.
type Lag struct {
	// Value is nil where the lag is not known.
	Value *int64
	// Reason tells why Value is not what Redis says: it is not known, or the unread entries
	// were counted one by one. Empty where Redis is believed.
	Reason protocol.LagReason
}

// Known tells whether there is a value.
func (l Lag) Known() bool { return l.Value != nil }

// Judge returns the lag of a group on a shard that could be read: the count of the unread
// entries where they were counted, otherwise what Redis says unless the rest of what it says
// contradicts it (monitoring, Rates; F01 to F05).
func Judge(shard *facts.Shard, group facts.ShardGroup) Lag {
	doubt := doubtOf(shard, group)
	switch {
	case group.Tail != nil:
		return Lag{Value: group.Tail, Reason: doubt}
	case doubt != "":
		return Lag{Reason: doubt}
	default:
		return Lag{Value: group.Lag}
	}
}

// doubtOf returns what is wrong with the lag that Redis says, empty for nothing.
func doubtOf(shard *facts.Shard, group facts.ShardGroup) protocol.LagReason {
	if group.Lag == nil {
		return protocol.LagUnknown
	}
	lag, cursor := *group.Lag, idOf(group.LastDeliveredID)
	switch {
	case lag < 0:
		return protocol.LagNegative
	case !idOf(shard.LastID).after(cursor): // nothing is unread
		if lag > 0 {
			return protocol.LagContradictsTail
		}
		return ""
	case lag == 0, lag < group.TailAtLeast:
		return protocol.LagBelowTail
	case lag > shard.Length:
		return protocol.LagAboveLength
	case idOf(shard.FirstID).after(cursor): // everything is unread
		if lag < shard.Length {
			return protocol.LagBelowTail
		}
		return ""
	case idOf(shard.MaxDeletedID).after(cursor):
		return protocol.LagDeleted
	case group.LagDoubtful:
		return protocol.LagContradictsTail
	default:
		return ""
	}
}

// allUnread tells whether the group has read none of the entries that are there.
func allUnread(shard *facts.Shard, group facts.ShardGroup) bool {
	cursor := idOf(group.LastDeliveredID)
	if shard.Length == 0 {
		return idOf(shard.LastGeneratedID).after(cursor)
	}
	return idOf(shard.FirstID).after(cursor)
}
