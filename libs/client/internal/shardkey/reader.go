package shardkey

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// slack is how much longer than BLOCK a read may take before its connection is given up
// (field case F16).
const slack = time.Second

// callTimeout bounds every command that does not block.
const callTimeout = 5 * time.Second

// Conns are the connections of a consumer to Redis.
type Conns struct {
	// Reads serves blocking reads and everything else that must come from a primary.
	Reads redis.UniversalClient
	// Writes serves acknowledgements, so that they never wait for a blocked read (F17).
	Writes redis.UniversalClient
	// AckDel tells that the server knows XACKDEL.
	AckDel bool
}

// Reader acts on one shard key in the name of one consumer. It is safe for use by several
// goroutines.
type Reader struct {
	conns    Conns
	scripts  *Scripts
	key      string
	group    string
	consumer string
}

// Record is one record as it was delivered.
type Record struct {
	ID     string
	Values map[string]any
	// Deliveries counts this delivery too.
	Deliveries int64
}

// NewReader returns a Reader of key in the name of consumer.
func NewReader(conns Conns, scripts *Scripts, key, group, consumer string) *Reader {
	return &Reader{conns: conns, scripts: scripts, key: key, group: group, consumer: consumer}
}

// Key returns the shard key.
func (r *Reader) Key() string { return r.key }

// Read returns at most count records that nobody has read yet, waiting up to block for the
// first one; a block below 1 ms does not wait. No records and no error mean that there are
// none. A reply that does not come in time is an error of redisx.StateTimeout: then, as
// after every lost connection, records may have been delivered that nobody saw.
func (r *Reader) Read(ctx context.Context, count int, block time.Duration) ([]Record, error) {
	return r.readOn(ctx, r.conns.Reads, count, block)
}

// blockingReader is a connection, or a client that picks one.
type blockingReader interface {
	XReadGroup(ctx context.Context, args *redis.XReadGroupArgs) *redis.XStreamSliceCmd
}

func (r *Reader) readOn(ctx context.Context, on blockingReader, count int, block time.Duration) ([]Record, error) {
	if block < time.Millisecond {
		block = -1
	}
	ctx, cancel := context.WithTimeout(ctx, max(block, 0)+slack)
	defer cancel()
	streams, err := on.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: r.group, Consumer: r.consumer, Streams: []string{r.key, ">"}, Count: int64(count), Block: block,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.key, err)
	}
	var records []Record
	for _, stream := range streams {
		records = make([]Record, 0, len(stream.Messages))
		for _, message := range stream.Messages {
			records = append(records, Record{ID: message.ID, Values: message.Values, Deliveries: 1})
		}
	}
	return records, nil
}

// Missing returns what is missing after err: the shard's stream, its group, or neither. The
// three texts that Redis has for it (NOGROUP, UNBLOCKED, WRONGTYPE) are one state (field
// case F15); the key itself tells stream and group apart. When it cannot be asked, neither
// is claimed: a server that still loads has lost nothing (F22).
func (r *Reader) Missing(ctx context.Context, err error) Missing {
	state := redisx.StateOf(err)
	if state == redisx.StateUnblocked || state == redisx.StateWrongType {
		return MissingStream
	}
	if state != redisx.StateNoGroup {
		return MissingNothing
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	kind, err := r.conns.Reads.Type(ctx, r.key).Result()
	switch {
	case err != nil:
		return MissingNothing
	case kind == "stream":
		return MissingGroup
	default:
		return MissingStream
	}
}

// Missing is what a shard lacks to be read.
type Missing int

// What may be missing.
const (
	MissingNothing Missing = iota
	MissingStream
	MissingGroup
)
