package messages

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Bounds of one read.
const (
	// firstRead is how many records of a shard are read before their size is known.
	firstRead = 32
	// readBytes is about how much is read of all shards at once when it is known.
	readBytes = 4 << 20
	// readShards is how many shards are read in one pipeline.
	readShards = 256
)

// source is one shard on the way of a walk.
type source struct {
	shard facts.Shard
	place int // in the query
	// bound is the last id that was taken, or where the walk began; nil is the beginning.
	bound *redisx.EntryID
	read  []record // not taken yet, in the direction of the walk
	ended bool     // nothing follows read
	size  int      // mean bytes of a record that was read, 0 as long as none was
}

// top returns the record that comes next; there has to be one.
func (s *source) top() record { return s.read[0] }

// take removes the record that comes next and returns it.
func (s *source) take() record {
	r := s.read[0]
	s.read = s.read[1:]
	s.bound = &r.id
	return r
}

// empty tells whether it has to be read before anything can be said of it.
func (s *source) empty() bool { return len(s.read) == 0 && !s.ended }

// refill reads on where sources are empty, at most most records of each.
func refill(ctx context.Context, rdb redis.UniversalClient, forward bool, sources []*source, most int) error {
	wanting := slices.DeleteFunc(slices.Clone(sources), func(s *source) bool { return !s.empty() })
	for batch := range slices.Chunk(wanting, readShards) {
		pipe := rdb.Pipeline()
		asked := make([]*redis.Cmd, len(batch))
		counts := make([]int, len(batch))
		for i, s := range batch {
			if counts[i] = s.count(most, len(batch)); s.atEnd(forward) {
				s.ended = true
				continue
			}
			asked[i] = redis.NewCmd(ctx, s.rangeArgs(forward, counts[i])...)
			_ = pipe.Process(ctx, asked[i])
		}
		_, _ = pipe.Exec(ctx) // each command carries its own error.
		for i, s := range batch {
			if asked[i] == nil {
				continue
			}
			if err := s.receive(asked[i], counts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// count returns how many records to read when so many shards are read at once.
func (s *source) count(most, shards int) int {
	if s.size == 0 {
		return max(1, min(most, firstRead))
	}
	return max(1, min(most, readBytes/shards/s.size))
}

// atEnd tells whether no id can follow the bound; Redis refuses such a range.
func (s *source) atEnd(forward bool) bool {
	last := redisx.EntryID{}
	if forward {
		last = redisx.EntryID{Ms: math.MaxUint64, Seq: math.MaxUint64}
	}
	return s.bound != nil && *s.bound == last
}

func (s *source) rangeArgs(forward bool, count int) []any {
	name, from, to := "XREVRANGE", "+", "-"
	if forward {
		name, from, to = "XRANGE", "-", "+"
	}
	if s.bound != nil {
		from = "(" + s.bound.String()
	}
	return []any{name, s.shard.Key, from, to, "COUNT", count}
}

// receive takes what was read.
func (s *source) receive(asked *redis.Cmd, count int) error {
	entries, err := entriesOf(asked, s.shard)
	if err != nil {
		return err
	}
	bytes := 0
	for _, entry := range entries {
		id, err := redisx.ParseEntryID(entry.ID)
		if err != nil {
			return fmt.Errorf("read shard %q: %w", s.shard.Key, err)
		}
		s.read = append(s.read, recordOf(s.shard, id, entry))
		for _, text := range entry.Fields {
			bytes += len(text)
		}
	}
	s.ended = len(entries) < count
	s.size = max(1, bytes/max(1, len(entries)))
	return nil
}

// entriesOf reads an answer. A key that is no stream, a sealed shard for example, has no
// records.
func entriesOf(asked *redis.Cmd, shard facts.Shard) ([]redisx.Entry, error) {
	reply, err := asked.Result()
	switch {
	case errors.Is(err, redis.Nil), redisx.StateOf(err) == redisx.StateWrongType:
		return nil, nil
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of the stream cannot be read now", shard.Index).
			Because(fmt.Errorf("read shard %q: %w", shard.Key, err))
	}
	entries, err := redisx.ParseEntries(reply)
	if err != nil {
		return nil, fmt.Errorf("read shard %q: %w", shard.Key, err)
	}
	return entries, nil
}
