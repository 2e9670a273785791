package recorder

import "github.com/redis-stream-coordinator/rsc/libs/protocol"

// Bounds of an event's lists in about bytes of their JSON, so that a history of 1000
// events stays small and a page of them can be sent.
const (
	maxChanges = 4 << 10
	maxShards  = 8 << 10
)

// cut returns the first entries of a list that fit into most, and how many do not.
func cut[T any](list []T, most int, size func(T) int) (kept []T, leftOut int) {
	for i, entry := range list {
		if most -= size(entry); most < 0 {
			return list[:i], len(list) - i
		}
	}
	return list, 0
}

func sizeOfChange(c protocol.EventChange) int {
	return len(`{"cause":"","memberId":"","requestId":"","shards":00000},`) + len(c.Cause) + len(c.MemberID) + len(c.RequestID)
}

func sizeOfShard(c protocol.ShardChange) int {
	size := len(`{"shard":00000},`)
	if c.Target != nil {
		size += len(`"target":{"before":null,"after":null},`) + sizeOfText(c.Target.Before) + sizeOfText(c.Target.After)
	}
	if c.Hold != nil {
		size += len(`"hold":{"before":null,"after":null},`) + sizeOfHold(c.Hold.Before) + sizeOfHold(c.Hold.After)
	}
	return size
}

func sizeOfText(text *string) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

func sizeOfHold(h *protocol.HoldState) int {
	if h == nil {
		return 0
	}
	size := len(`{"memberId":"","incarnation":"","told":true}`) + len(h.MemberID) + len(h.Incarnation)
	if h.LingersUntil != nil {
		size += len(`"lingersUntil":"0000-00-00T00:00:00.000Z",`)
	}
	return size
}
