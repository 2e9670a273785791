package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
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

// Page implements Reader. Its cursor is the id of the last entry that was looked at. A query
// that names a stream goes on, behind the oldest record of the global stream, in the own
// stream of the group that it names, or with what was about the stream as a whole.
func (s *Redis) Page(ctx context.Context, query Query) (protocol.AuditResponse, error) {
	from, err := parseCursor(query.Cursor)
	if err != nil {
		return protocol.AuditResponse{}, err
	}
	page := protocol.AuditResponse{Records: []protocol.AuditRecord{}}
	switch {
	case from.copies && query.StreamPrefix == "":
		return page, protocol.Errorf(protocol.CodeInvalidRequest, "cursor is of a query that names a stream")
	case from.copies:
		err = s.scan(ctx, audit.OwnStream(s.keyPrefix, query.StreamPrefix, query.ConsumerGroup), from, query, &page)
	case query.Cursor == "" && query.whole():
		err = s.newest(ctx, query, &page)
	case query.StreamPrefix != "":
		err = s.scanBoth(ctx, from, query, &page)
	default:
		err = s.scan(ctx, s.stream, from, query, &page)
	}
	if err != nil {
		return page, fmt.Errorf("read the audit in Redis: %w", err)
	}
	return page, nil
}

// scanBoth looks through the global stream; where that ends, the own stream is next.
func (s *Redis) scanBoth(ctx context.Context, from cursor, query Query, page *protocol.AuditResponse) error {
	first, err := s.rdb.XRangeN(ctx, s.stream, "-", "+", 1).Result()
	if err != nil {
		return err
	}
	if err := s.scan(ctx, s.stream, from, query, page); err != nil || page.Next != nil {
		return err
	}
	behind := int64(math.MaxInt64) // of an empty stream
	if len(first) > 0 {
		behind = recordOf(first[0]).Sequence
	}
	if behind > 1 {
		next := cursor{copies: true, behind: behind}.String()
		page.Next = &next
	}
	return nil
}

// scan looks through the entries of a stream until the page is full, or has looked at as
// many as one page may.
func (s *Redis) scan(ctx context.Context, stream string, from cursor, query Query, page *protocol.AuditResponse) error {
	asked := batch
	if query.whole() {
		asked = query.Limit
	}
	for scanned := 0; scanned < maxScan; scanned += asked {
		entries, err := s.rdb.XRevRangeN(ctx, stream, from.newest(), oldest(query), int64(asked)).Result()
		if err != nil {
			return err
		}
		full := take(page, entries, query, from, asked)
		if full || page.Next == nil {
			return nil
		}
		from.id = entries[len(entries)-1].ID
	}
	return nil
}

// oldest returns the id from which on entries can match.
func oldest(query Query) string {
	if from := query.From.Add(-clockSkew).UnixMilli(); !query.From.IsZero() && from > 0 {
		return strconv.FormatInt(from, 10)
	}
	return "-"
}

// newest reads the newest entries and the head in one step, so that they fit each other.
func (s *Redis) newest(ctx context.Context, query Query, page *protocol.AuditResponse) error {
	var entries *redis.XMessageSliceCmd
	var fields *redis.MapStringStringCmd
	_, err := s.rdb.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		entries = tx.XRevRangeN(ctx, s.stream, "+", "-", int64(query.Limit))
		fields = tx.HGetAll(ctx, s.headKey)
		return nil
	})
	if err != nil {
		return err
	}
	page.Head = &protocol.AuditHead{Chain: redisChain, Hash: fields.Val()["hash"]}
	if text, there := fields.Val()["sequence"]; there {
		if page.Head.Sequence, err = strconv.ParseInt(text, 10, 64); err != nil {
			return errors.New("the head has no number")
		}
	}
	take(page, entries.Val(), query, cursor{}, query.Limit)
	return nil
}

// take adds the entries that match until the page is full, which it tells. Next is the last
// one looked at, nil when there were fewer than asked for and all were.
func take(page *protocol.AuditResponse, entries []redis.XMessage, query Query, from cursor, asked int) bool {
	page.Next = nil
	for i, entry := range entries {
		if record := recordOf(entry); query.matches(record) && from.reaches(record) {
			page.Records = append(page.Records, record)
		}
		full := len(page.Records) == query.Limit
		if full && (i+1 < len(entries) || len(entries) == asked) || i+1 == asked {
			from.id = entry.ID
			next := from.String()
			page.Next = &next
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
	text, _ := entry.Values[audit.FieldRecord].(string)
	var record protocol.AuditRecord
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		number, _ := entry.Values["sequence"].(string)
		sequence, _ := strconv.ParseInt(number, 10, 64)
		record = protocol.AuditRecord{Chain: redisChain, Sequence: sequence}
	}
	return shaped(record)
}

// shaped returns a record in the shape of an answer also where somebody else has written it:
// the sinks write neither as null.
func shaped(record protocol.AuditRecord) protocol.AuditRecord {
	if record.Requested == nil {
		record.Requested = map[string]string{}
	}
	if record.Roles == nil {
		record.Roles = []string{}
	}
	return record
}
