package pgstore

import (
	"context"
	"fmt"
	"math"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

const historyStatement = `
SELECT server.identity,
	EXISTS (SELECT FROM rsc_record WHERE stream_prefix = $1 AND consumer_group = $2)
		OR EXISTS (SELECT FROM rsc_event WHERE stream_prefix = $1 AND consumer_group = $2),
	e.times, e.sequences, e.data
FROM (SELECT rsc_identity() AS identity) AS server, LATERAL (
	SELECT array_agg(p.at ORDER BY p.at, p.sequence) AS times, array_agg(p.sequence ORDER BY p.at, p.sequence) AS sequences,
		array_agg(p.data ORDER BY p.at, p.sequence) AS data
	FROM (
		SELECT at, sequence, data FROM rsc_event
		WHERE stream_prefix = $1 AND consumer_group = $2 AND (at, sequence) > ($3, $4)
		ORDER BY at, sequence LIMIT $5
	) AS p
) AS e`

// History implements store.Historian. A server that takes no writes refuses it.
func (s *Store) History(ctx context.Context, key store.Key, after string, limit int) ([]store.Event, error) {
	cursor, err := store.CheckHistory(key, s.options.KeyPrefix, after, limit)
	if err != nil {
		return nil, err
	}
	at, sequence := column(cursor.Millis), column(cursor.Sequence)
	if after == "" {
		at = -1
	}
	var identity string
	var known bool
	var times, sequences []int64
	var data [][]byte
	err = s.call(ctx, reads, into(&identity, &known, &times, &sequences, &data), historyStatement,
		key.Stream, key.Group, at, sequence, limit)
	if err != nil {
		return nil, fmt.Errorf("read the history of %q: %w", key, err)
	}
	if !known {
		return nil, refusal(key, wordMissing, nil)
	}
	events := make([]store.Event, len(times))
	for i := range times {
		id := store.Cursor{Millis: uint64(times[i]), Sequence: uint64(sequences[i])}
		events[i] = store.Event{ID: id.String(), At: store.Millis(times[i]), Data: data[i]}
	}
	return events, nil
}

// column cuts a part of a cursor to what a column may hold; no event is beyond that.
func column(part uint64) int64 { return int64(min(part, math.MaxInt64)) }
