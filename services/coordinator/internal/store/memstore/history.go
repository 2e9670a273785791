package memstore

import (
	"context"
	"slices"
	"sort"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// HistoryLength is how many events of a record are kept.
const HistoryLength = 1000

// event is one entry of a history. It never changes.
type event struct {
	at   store.Cursor
	data []byte
}

// History implements store.Historian. The history of a deleted record stays for good.
func (s *Store) History(ctx context.Context, key store.Key, after string, limit int) ([]store.Event, error) {
	cursor, err := store.CheckHistory(key, protocol.DefaultKeyPrefix, after, limit)
	if err := s.enter(ctx, err); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	kept, found := s.image.history[key]
	if !found && s.image.records[key] == nil {
		return nil, store.ErrNotFound
	}
	first := 0
	if after != "" {
		first = sort.Search(len(kept), func(i int) bool { return cursor.Before(kept[i].at) })
	}
	page := kept[first:min(first+limit, len(kept))]
	events := make([]store.Event, len(page))
	for i, e := range page {
		events[i] = store.Event{ID: e.at.String(), At: store.Millis(e.at.Millis), Data: slices.Clone(e.data)}
	}
	return events, nil
}

// remember appends an event to the record's history.
func (i Image) remember(key store.Key, data []byte, clock store.Millis) {
	if len(data) == 0 {
		return
	}
	kept := i.history[key]
	at := store.Cursor{Millis: uint64(max(clock, 0))}
	if len(kept) > 0 {
		if last := kept[len(kept)-1].at; !last.Before(at) {
			at = store.Cursor{Millis: last.Millis, Sequence: last.Sequence + 1}
		}
	}
	kept = append(kept, event{at: at, data: slices.Clone(data)})
	i.history[key] = kept[max(0, len(kept)-HistoryLength):]
}

// RepairIndex implements store.Indexer: there is no index beside the records.
func (s *Store) RepairIndex(context.Context) (store.Repair, error) { return store.Repair{}, nil }
