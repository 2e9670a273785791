package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// frame is what a round tells those who follow. It is encoded once for all of them, and only
// when the first one asks.
type frame struct {
	look   Look
	groups func() ([]piece, error)

	mu     sync.Mutex
	shards map[place][]piece
}

// piece is a row of an answer, as JSON. at and index say what it is of. told is what is
// compared: the row without the time of the observation, which is news to nobody.
type piece struct {
	at    place
	index int
	data  json.RawMessage
	told  []byte
}

func newFrame(look Look) *frame {
	f := &frame{look: look, shards: map[place][]piece{}}
	f.groups = sync.OnceValues(f.encodeGroups)
	return f
}

func (f *frame) encodeGroups() ([]piece, error) {
	rows := groupRows(f.look)
	pieces := make([]piece, 0, len(rows))
	for _, row := range rows {
		data, err := json.Marshal(row)
		row.ObservedAt = protocol.Timestamp{}
		told, err2 := json.Marshal(row)
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("encode group %s: %w", row.ConsumerGroup, err)
		}
		pieces = append(pieces, piece{place{stream: row.StreamPrefix, group: row.ConsumerGroup}, 0, data, told})
	}
	return pieces, nil
}

// shardsOf returns the rows of a group's shards, none for a group that is not there.
func (f *frame) shardsOf(at place) ([]piece, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pieces, done := f.shards[at]; done {
		return pieces, nil
	}
	rows := views.GrafanaShards(f.look.Round, f.look.Snapshot, at.stream, at.group)
	pieces := make([]piece, 0, len(rows))
	for _, row := range rows {
		data, err := json.Marshal(row)
		row.ObservedAt = nil
		told, err2 := json.Marshal(row)
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("encode shard %d: %w", row.ShardIndex, err)
		}
		pieces = append(pieces, piece{at, row.ShardIndex, data, told})
	}
	f.shards[at] = pieces
	return pieces, nil
}
