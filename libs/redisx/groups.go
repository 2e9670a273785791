package redisx

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// ErrReply comes when a server's answer does not have the documented shape.
var ErrReply = errors.New("unexpected reply of Redis")

// Doer runs one Redis command; every client and pipeline of go-redis is one.
type Doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// Count is a number that Redis may not know. The zero value is unknown, so that
// what was never filled in can not pass for 0 (field case F04).
type Count struct {
	value int64
	known bool
}

// KnownCount returns the count n, unknown when n is negative: Redis computes such
// lags from a position given by hand (field case F03), and libraries use -1.
func KnownCount(n int64) Count {
	if n < 0 {
		return Count{}
	}
	return Count{value: n, known: true}
}

// Value returns the number and whether it is known; unknown it is 0.
func (c Count) Value() (n int64, known bool) { return c.value, c.known }

// IsZero reports whether the count is known to be 0, the only lag that may count as
// drained (protocol L4).
func (c Count) IsZero() bool { return c.known && c.value == 0 }

// String returns the number, or "unknown".
func (c Count) String() string {
	if !c.known {
		return "unknown"
	}
	return strconv.FormatInt(c.value, 10)
}

// Group is one consumer group of a stream as XINFO GROUPS reports it.
type Group struct {
	// Name of the group.
	Name string
	// Consumers is the number of consumer names known to the group.
	Consumers int64
	// Pending is the number of entries delivered and not acknowledged.
	Pending int64
	// LastDeliveredID is the group's cursor.
	LastDeliveredID string
	// EntriesRead is Redis' logical read counter; unknown after failovers (field
	// case F05) and before Redis 7.
	EntriesRead Count
	// Lag is how many entries wait to be delivered. A known number may still be
	// wrong (field cases F01 to F03): a proof needs the tail too (protocol L4).
	Lag Count
}

// Groups asks for the consumer groups of the stream key. On a cluster client that
// reads from replicas the answer may be a replica's; a proof uses Dedicated or a
// script. A missing key is the server's error "ERR no such key".
func Groups(ctx context.Context, rdb Doer, key string) ([]Group, error) {
	reply, err := rdb.Do(ctx, "XINFO", "GROUPS", key).Result()
	if err != nil {
		return nil, fmt.Errorf("list the groups of %q: %w", key, err)
	}
	groups, err := ParseGroups(reply)
	if err != nil {
		return nil, fmt.Errorf("list the groups of %q: %w", key, err)
	}
	return groups, nil
}

// ParseGroups reads a reply of XINFO GROUPS as go-redis decodes it without a type:
// RESP3 maps, RESP2 flat lists, or the lists a script hands on. A lag or read
// counter that is nil, negative or missing is unknown (field case F04); a group
// without name or pending count is an ErrReply, never a group with nothing pending.
func ParseGroups(reply any) ([]Group, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: groups are a %T", ErrReply, reply)
	}
	groups := make([]Group, 0, len(list))
	for i, item := range list {
		fields, err := fieldsOf(item)
		if err != nil {
			return nil, fmt.Errorf("group %d: %w", i, err)
		}
		group, err := groupOf(fields)
		if err != nil {
			return nil, fmt.Errorf("group %d: %w", i, err)
		}
		groups = append(groups, group)
	}
	return groups, nil
}

func groupOf(fields map[string]any) (Group, error) {
	var g Group
	var err error
	if g.Name, err = textField(fields, "name"); err != nil {
		return Group{}, err
	}
	if g.LastDeliveredID, err = textField(fields, "last-delivered-id"); err != nil {
		return Group{}, err
	}
	if g.Consumers, err = numberField(fields, "consumers"); err != nil {
		return Group{}, err
	}
	if g.Pending, err = numberField(fields, "pending"); err != nil {
		return Group{}, err
	}
	if g.EntriesRead, err = countField(fields, "entries-read"); err != nil {
		return Group{}, err
	}
	g.Lag, err = countField(fields, "lag")
	return g, err
}
