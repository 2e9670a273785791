package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Query says which page of records is wanted.
type Query struct {
	Stream, Group string
	// Shards are those that are read, by index; only the first one counts without AllShards.
	Shards    []facts.Shard
	AllShards bool
	// Direction empty is BACKWARD.
	Direction protocol.MessageDirection
	// Cursor is where the page begins: PageNextCursor of the page before, a record id, or
	// __rsc_tail__:N for the page N pages before the last one in this direction, of which
	// __rsc_last__ is N = 0. Empty is the end that Direction comes from.
	Cursor string
	// RecordID asks for the records with this id and no others; Cursor does not count then.
	RecordID string
	// Limit is moved into 1 … protocol.MaxMessages.
	Limit int
}

// Reader reads records. It is safe for concurrent use.
type Reader struct{ redis redis.UniversalClient }

// NewReader returns a Reader of the Redis that has the shards; the client stays the
// caller's.
func NewReader(rdb redis.UniversalClient) *Reader { return &Reader{redis: rdb} }

// page is a page before it is put into a shape.
type page struct {
	records []record
	next    *string
	bytes   int
}

func (p *page) add(r record) {
	p.records = append(p.records, r)
	p.bytes += r.bytes
}

// Page reads a page of the first of q.Shards. Refusals are *protocol.Error: INVALID_REQUEST
// for a cursor, id or direction that is none, STORE_UNAVAILABLE when Redis is away.
func (r *Reader) Page(ctx context.Context, q Query) (protocol.StreamMessagesPageResponse, error) {
	q.AllShards = false
	q, found, err := r.read(ctx, q)
	if err != nil {
		return protocol.StreamMessagesPageResponse{}, err
	}
	response := protocol.StreamMessagesPageResponse{
		StreamPrefix: q.Stream, ConsumerGroup: q.Group, Shard: protocol.ShardID{ShardIndex: q.Shards[0].Index}, StreamKey: q.Shards[0].Key,
		Direction: q.Direction, Limit: q.Limit, Records: make([]protocol.StreamMessageRecord, len(found.records)), NextCursor: found.next,
	}
	for i, record := range found.records {
		ms, at := record.time()
		response.Records[i] = protocol.StreamMessageRecord{
			StreamPrefix: q.Stream, ConsumerGroup: q.Group, Shard: response.Shard, StreamKey: response.StreamKey, RecordID: record.id.String(),
			Fields: record.fields, Payload: record.payload(), RecordTimestampMs: ms, RecordTime: at,
			Base64Fields: record.base64, CutFields: record.cut,
		}
	}
	return response, nil
}

// Rows reads a page of one shard or of all as dashboards have it: each row has the page's
// cursor and the number of records that the shards have. Refusals as of Page.
func (r *Reader) Rows(ctx context.Context, q Query) ([]protocol.GrafanaMessageRow, error) {
	q, found, err := r.read(ctx, q)
	if err != nil {
		return nil, err
	}
	rows := make([]protocol.GrafanaMessageRow, len(found.records))
	if len(rows) == 0 {
		return rows, nil
	}
	total, err := r.total(ctx, q)
	if err != nil {
		return nil, err
	}
	for i, record := range found.records {
		fields, err := json.Marshal(record.fields)
		if err != nil {
			return nil, fmt.Errorf("encode the fields of %s: %w", record.id, err)
		}
		ms, at := record.time()
		index := strconv.Itoa(record.shard.Index)
		rows[i] = protocol.GrafanaMessageRow{
			StreamPrefix: q.Stream, ConsumerGroup: q.Group, ShardIndex: record.shard.Index, ShardSelector: index, ShardLabel: ":" + index,
			StreamKey: record.shard.Key, RecordID: record.id.String(), Payload: record.payload(), FieldsJSON: string(fields),
			PageDirection: q.Direction, PageLimit: q.Limit, PageNextCursor: found.next, PageTotalMessages: total,
			RecordTimestampMs: ms, RecordTime: at, Base64Fields: record.base64, CutFields: record.cut,
		}
		if q.AllShards {
			rows[i].ShardSelector = "all"
		}
	}
	return rows, nil
}

// read reads a page, and returns the query with all that it leaves open.
func (r *Reader) read(ctx context.Context, q Query) (Query, page, error) {
	q.Limit = min(max(q.Limit, 1), protocol.MaxMessages)
	if q.Direction == "" {
		q.Direction = protocol.DirectionBackward
	}
	if !q.AllShards && len(q.Shards) > 1 {
		q.Shards = q.Shards[:1]
	}
	forward := q.Direction == protocol.DirectionForward
	switch {
	case !forward && q.Direction != protocol.DirectionBackward:
		return q, page{}, protocol.Errorf(protocol.CodeInvalidRequest, "direction %q is neither FORWARD nor BACKWARD", protocol.Echo(string(q.Direction)))
	case len(q.Shards) == 0:
		return q, page{}, protocol.Errorf(protocol.CodeNotFound, "there is no such shard")
	case q.RecordID != "":
		found, err := r.search(ctx, q)
		return q, found, err
	}
	at, err := startOf(q, forward)
	switch {
	case err != nil:
		return q, page{}, err
	case at.tail >= 0:
		found, err := r.tailPage(ctx, q, forward, at.tail)
		return q, found, err
	}
	found, err := r.page(ctx, q, forward, at)
	return q, found, err
}

// page reads the page that begins at from.
func (r *Reader) page(ctx context.Context, q Query, forward bool, from start) (page, error) {
	floors := r.floors(ctx, q, forward)
	w, err := r.walkFrom(ctx, q, forward, from, q.Limit)
	if err != nil {
		return page{}, err
	}
	var found page
	for w.more() && len(found.records) < q.Limit && found.bytes < pageBytes {
		record, err := w.next(ctx)
		if err != nil {
			return page{}, err
		}
		found.add(record)
	}
	if w.more() {
		var kept int
		found.next, kept = w.cursor(q, floors)
		found.records = found.records[:kept]
	}
	return found, nil
}

// total counts the records of all shards of a query.
func (r *Reader) total(ctx context.Context, q Query) (int64, error) {
	pipe := r.redis.Pipeline()
	asked := make([]*redis.IntCmd, len(q.Shards))
	for i, shard := range q.Shards {
		asked[i] = pipe.XLen(ctx, shard.Key)
	}
	_, _ = pipe.Exec(ctx) // each command carries its own error.
	var total int64
	for i, length := range asked {
		n, err := length.Result()
		if err != nil && redisx.StateOf(err) != redisx.StateWrongType {
			return 0, protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of the stream cannot be read now", q.Shards[i].Index).
				Because(fmt.Errorf("count shard %q: %w", q.Shards[i].Key, err))
		}
		total += n
	}
	return total, nil
}
