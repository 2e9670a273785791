package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// batch is how many entries one call reads, and maxScan how many one page looks through.
	batch   = 1000
	maxScan = 10_000
	// clockSkew is how far the clocks of a gateway and of Redis may be apart before From
	// cuts records off.
	clockSkew = 10 * time.Minute
)

// Page implements Reader. Its cursor is the id of the last entry that was looked at.
func (s *Redis) Page(ctx context.Context, query Query) (protocol.AuditResponse, error) {
	newest := "+"
	if query.Cursor != "" {
		if !isEntryID(query.Cursor) {
			return protocol.AuditResponse{}, protocol.Errorf(protocol.CodeInvalidRequest,
				"cursor %q is not next of another page", protocol.Echo(query.Cursor))
		}
		newest = "(" + query.Cursor
	}
	oldest := "-"
	if from := query.From.Add(-clockSkew).UnixMilli(); !query.From.IsZero() && from > 0 {
		oldest = strconv.FormatInt(from, 10)
	}
	page := protocol.AuditResponse{Records: []protocol.AuditRecord{}}
	if query.Cursor == "" && query.whole() {
		entries, head, err := s.newest(ctx, query.Limit)
		if err != nil {
			return page, fmt.Errorf("read the audit in Redis: %w", err)
		}
		page.Head = head
		take(&page, entries, query, query.Limit)
		return page, nil
	}
	asked := batch
	if query.whole() {
		asked = query.Limit
	}
	for scanned := 0; scanned < maxScan; scanned += asked {
		entries, err := s.rdb.XRevRangeN(ctx, s.stream, newest, oldest, int64(asked)).Result()
		if err != nil {
			return page, fmt.Errorf("read the audit in Redis: %w", err)
		}
		full := take(&page, entries, query, asked)
		if full || page.Next == nil {
			return page, nil
		}
		newest = "(" + *page.Next
	}
	return page, nil
}

// newest reads the newest entries and the head in one step, so that they fit each other.
func (s *Redis) newest(ctx context.Context, count int) ([]redis.XMessage, *protocol.AuditHead, error) {
	var entries *redis.XMessageSliceCmd
	var fields *redis.MapStringStringCmd
	_, err := s.rdb.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		entries = tx.XRevRangeN(ctx, s.stream, "+", "-", int64(count))
		fields = tx.HGetAll(ctx, s.headKey)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	head := protocol.AuditHead{Chain: redisChain, Hash: fields.Val()["hash"]}
	if text, there := fields.Val()["sequence"]; there {
		if head.Sequence, err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, nil, errors.New("the head of the audit has no number")
		}
	}
	return entries.Val(), &head, nil
}

// take adds the entries that match until the page is full, which it tells. Next is the last
// one looked at, nil when there were fewer than asked for and all were.
func take(page *protocol.AuditResponse, entries []redis.XMessage, query Query, asked int) bool {
	page.Next = nil
	for i, entry := range entries {
		if record := recordOf(entry); query.matches(record) {
			page.Records = append(page.Records, record)
		}
		full := len(page.Records) == query.Limit
		if full && (i+1 < len(entries) || len(entries) == asked) || i+1 == asked {
			page.Next = &entries[i].ID
		}
		if full {
			return true
		}
	}
	return false
}

// recordOf reads an entry. What is no record is shown as one that has nothing but a number,
// so that whoever verifies the chain meets it.
func recordOf(entry redis.XMessage) protocol.AuditRecord {
	text, _ := entry.Values[fieldRecord].(string)
	var record protocol.AuditRecord
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		number, _ := entry.Values["sequence"].(string)
		sequence, _ := strconv.ParseInt(number, 10, 64)
		return protocol.AuditRecord{Chain: redisChain, Sequence: sequence}
	}
	return record
}

func isEntryID(text string) bool {
	ms, sequence, found := strings.Cut(text, "-")
	return found && isNumber(ms) && isNumber(sequence)
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil && text[0] != '+'
}
