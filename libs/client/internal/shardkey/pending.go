package shardkey

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Entry is one record that was delivered and not acknowledged.
type Entry struct {
	ID       string
	Consumer string
	// Deliveries is how often it was delivered so far, as Redis counts (field case F11).
	Deliveries int64
}

// Pending returns at most count pending entries of every consumer in id order, beginning
// after the id after ("" is the beginning), that have been idle for at least idle.
func (r *Reader) Pending(ctx context.Context, after string, count int, idle time.Duration) ([]Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	start := "-"
	if after != "" {
		start = following(after) // an exclusive start is not known everywhere
	}
	found, err := r.conns.Reads.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: r.key, Group: r.group, Idle: idle, Start: start, End: "+", Count: int64(count),
	}).Result()
	if err != nil {
		return nil, fmt.Errorf("list pending of %s: %w", r.key, err)
	}
	entries := make([]Entry, 0, len(found))
	for _, one := range found {
		entries = append(entries, Entry{ID: one.ID, Consumer: one.Consumer, Deliveries: one.RetryCount})
	}
	return entries, nil
}

// following returns the smallest id above id.
func following(id string) string {
	millis, sequence, _ := strings.Cut(id, "-")
	last, err := strconv.ParseUint(sequence, 10, 64)
	if err != nil || last == math.MaxUint64 {
		return "(" + id
	}
	return millis + "-" + strconv.FormatUint(last+1, 10)
}

// Claim takes the entries over, whoever has them, and returns their records in the order of
// entries. The ids in lost have no record any more: it was trimmed or deleted (field cases
// F06, F07, F24). They are found in the first reply (F08): Redis 6.2 answers nil for one or
// a nil body, later versions leave the id out; an id that was left out because somebody
// acknowledged it just now still has its record and is in neither list.
func (r *Reader) Claim(ctx context.Context, entries []Entry) (records []Record, lost []string, err error) {
	if len(entries) == 0 {
		return nil, nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	args := []any{"xclaim", r.key, r.group, r.consumer, 0}
	for _, entry := range entries {
		args = append(args, entry.ID)
	}
	// The reply is read by bodiesOf: XClaim of go-redis leaves a reply with a nil entry half read.
	reply, err := r.conns.Reads.Do(ctx, args...).Slice()
	if err != nil {
		return nil, nil, fmt.Errorf("claim pending of %s: %w", r.key, err)
	}
	bodies := bodiesOf(reply)
	var absent []string
	for _, entry := range entries {
		switch body, found := bodies[entry.ID]; {
		case !found:
			absent = append(absent, entry.ID)
		case body == nil:
			lost = append(lost, entry.ID)
		default:
			records = append(records, Record{ID: entry.ID, Values: body, Deliveries: entry.Deliveries + 1})
		}
	}
	gone, err := r.withoutRecord(ctx, absent)
	return records, append(lost, gone...), err
}

// bodiesOf reads a list of entries. A nil entry is left out; one with a nil body has a nil map.
func bodiesOf(reply []any) map[string]map[string]any {
	bodies := make(map[string]map[string]any, len(reply))
	for _, one := range reply {
		entry, _ := one.([]any)
		if len(entry) < 2 {
			continue
		}
		id, _ := entry[0].(string)
		fields, _ := entry[1].([]any)
		var body map[string]any
		if fields != nil {
			body = make(map[string]any, len(fields)/2)
		}
		for at := 0; at+1 < len(fields); at += 2 {
			if name, ok := fields[at].(string); ok {
				body[name] = fields[at+1]
			}
		}
		bodies[id] = body
	}
	return bodies
}

// withoutRecord returns those of ids that the stream does not hold.
func (r *Reader) withoutRecord(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := r.conns.Reads.Pipeline()
	found := make([]*redis.XMessageSliceCmd, 0, len(ids))
	for _, id := range ids {
		found = append(found, pipe.XRangeN(ctx, r.key, id, id, 1))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, fmt.Errorf("look for records of %s: %w", r.key, err)
	}
	var gone []string
	for at, one := range found {
		if len(one.Val()) == 0 {
			gone = append(gone, ids[at])
		}
	}
	return gone, nil
}

// PutBack undoes the count of a delivery for records that were taken and not handled, so that
// handing a shard over does not bring them nearer to being dead letters. Redis not taking it
// costs nothing but the count.
func (r *Reader) PutBack(ctx context.Context, records []Record) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for len(records) > 0 {
		same := 1
		for same < len(records) && records[same].Deliveries == records[0].Deliveries {
			same++
		}
		args := []any{"xclaim", r.key, r.group, r.consumer, 0}
		for _, record := range records[:same] {
			args = append(args, record.ID)
		}
		args = append(args, "retrycount", records[0].Deliveries-1, "justid")
		if r.conns.Writes.Do(ctx, args...).Err() != nil {
			return
		}
		records = records[same:]
	}
}
