package mutations

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// scanned is how many records are read: each mutation has two at most.
	scanned = 2 * protocol.MaxRecentMutations
	// maxText is how long a text may be that is shown, in bytes.
	maxText = 256
)

// Reader reads the newest mutations of groups. It is safe for concurrent use.
type Reader struct {
	redis     redis.UniversalClient
	keyPrefix string
}

// NewReader returns a Reader of the Redis in which gateways keep the audit, keyPrefix being
// that of their own keys; the client stays the caller's.
func NewReader(rdb redis.UniversalClient, keyPrefix string) *Reader {
	return &Reader{redis: rdb, keyPrefix: keyPrefix}
}

// Recent returns the newest mutations of a group, newest first, at most
// protocol.MaxRecentMutations. It is nil, not empty, where Redis holds no audit. An error
// means that the audit cannot be read.
func (r *Reader) Recent(ctx context.Context, stream, group string) ([]protocol.RecentMutation, error) {
	entries, err := r.redis.XRevRangeN(ctx, audit.OwnStream(r.keyPrefix, stream, group), "+", "-", scanned).Result()
	if err != nil {
		return nil, fmt.Errorf("read the audit of a group: %w", err)
	}
	if len(entries) > 0 {
		return headsOf(entries), nil
	}
	kept, err := r.redis.Exists(ctx, audit.Stream(r.keyPrefix)).Result()
	if err != nil {
		return nil, fmt.Errorf("look for the audit: %w", err)
	}
	if kept == 0 {
		return nil, nil
	}
	return []protocol.RecentMutation{}, nil
}

// headsOf returns the heads of records that are newest first. What is no record is left out,
// and so is an intent whose outcome is there.
func headsOf(entries []redis.XMessage) []protocol.RecentMutation {
	type request struct{ id, gateway, operation string }
	ended := map[request]int{} // outcomes whose intent comes yet
	heads := make([]protocol.RecentMutation, 0, protocol.MaxRecentMutations)
	for _, entry := range entries {
		text, _ := entry.Values[audit.FieldRecord].(string)
		var record protocol.AuditRecord
		if json.Unmarshal([]byte(text), &record) != nil || !isKind(record.Kind) {
			continue
		}
		of := request{record.RequestID, record.GatewayID, record.Operation}
		switch {
		case record.Kind == protocol.AuditIntent && ended[of] > 0:
			ended[of]--
			continue
		case record.Kind == protocol.AuditOutcome && record.Intended:
			ended[of]++
		}
		if heads = append(heads, headOf(record)); len(heads) == protocol.MaxRecentMutations {
			break
		}
	}
	return heads
}

func isKind(kind protocol.AuditKind) bool {
	return kind == protocol.AuditIntent || kind == protocol.AuditOutcome || kind == protocol.AuditReplay
}

func headOf(record protocol.AuditRecord) protocol.RecentMutation {
	return protocol.RecentMutation{
		Time: record.Time, Kind: record.Kind, Operation: cut(record.Operation), Method: cut(record.Method), Route: cut(record.Route),
		Principal: cut(record.Principal), RequestedBy: cut(record.RequestedBy), Reason: cut(record.Reason), RequestID: cut(record.RequestID),
		Result: protocol.AuditResult(cut(string(record.Result))), Status: record.Status, ErrorCode: cut(record.ErrorCode),
	}
}

func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}
