package redisx

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// slotCount is how many hash slots a cluster has.
const slotCount = 16_384

// SlotRange is a range of a cluster's hash slots with the primary that serves it.
type SlotRange struct {
	// First and Last are included.
	First, Last int
	// NodeID is the id of the node, empty before Redis 4.
	NodeID string
	// Addr is host:port as the cluster tells it, empty where it tells no host.
	Addr string
}

// Slots asks one node of a cluster who serves which slots, in a form that servers of every
// version know. Slots that nobody serves are in no range.
func Slots(ctx context.Context, rdb Doer) ([]SlotRange, error) {
	reply, err := rdb.Do(ctx, "CLUSTER", "SLOTS").Result()
	if err != nil {
		return nil, fmt.Errorf("ask for the slots of the cluster: %w", err)
	}
	ranges, err := ParseSlots(reply)
	if err != nil {
		return nil, fmt.Errorf("ask for the slots of the cluster: %w", err)
	}
	return ranges, nil
}

// ParseSlots reads a reply of CLUSTER SLOTS as go-redis decodes it without a type.
func ParseSlots(reply any) ([]SlotRange, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: slots are a %T", ErrReply, reply)
	}
	ranges := make([]SlotRange, len(list))
	for i, item := range list {
		var err error
		if ranges[i], err = slotRangeOf(item); err != nil {
			return nil, fmt.Errorf("range %d: %w", i, err)
		}
	}
	return ranges, nil
}

func slotRangeOf(item any) (SlotRange, error) {
	parts, ok := item.([]any)
	if !ok || len(parts) < 3 {
		return SlotRange{}, fmt.Errorf("%w: a range is a %T", ErrReply, item)
	}
	first, isFirst := parts[0].(int64)
	last, isLast := parts[1].(int64)
	node, isNode := parts[2].([]any) // the primary; its replicas follow
	if !isFirst || !isLast || !isNode || first < 0 || last < first || last >= slotCount || len(node) < 2 {
		return SlotRange{}, fmt.Errorf("%w: a range from %v to %v", ErrReply, parts[0], parts[1])
	}
	r := SlotRange{First: int(first), Last: int(last)}
	host, _ := node[0].(string) // null where the node does not know its address
	port, isPort := node[1].(int64)
	if isPort && host != "" && host != "?" {
		r.Addr = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	}
	if len(node) > 2 {
		r.NodeID, _ = node[2].(string)
	}
	return r, nil
}
