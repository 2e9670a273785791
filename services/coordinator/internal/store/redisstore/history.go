package redisstore

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// fieldEvent is the field of a history's entry that holds the event.
const fieldEvent = "event"

// History implements store.Historian. A replica refuses it with READONLY.
func (s *Store) History(ctx context.Context, key store.Key, after string, limit int) ([]store.Event, error) {
	if _, err := store.CheckHistory(key, s.options.KeyPrefix, after, limit); err != nil {
		return nil, err
	}
	from := "-"
	if after != "" {
		from = "(" + after
	}
	keys := s.keys.of(key)
	answer, err := s.run(ctx, s.scripts.history, reads, []string{keys.record, keys.events}, from, limit)
	if err != nil {
		return nil, s.fault(key, err)
	}
	if answer.word != wordOK {
		return nil, answer.refusal(key)
	}
	if len(answer.rest) != 1 {
		return nil, answer.unexpected()
	}
	entries, ok := answer.rest[0].([]any)
	if !ok {
		return nil, answer.unexpected()
	}
	events := make([]store.Event, len(entries))
	for i, entry := range entries {
		if events[i], ok = readEvent(entry); !ok {
			return nil, answer.unexpected()
		}
	}
	return events, nil
}

// readEvent reads an entry of a stream: its id, and its fields with their values. An
// entry that somebody else added has no data.
func readEvent(entry any) (store.Event, bool) {
	parts, ok := entry.([]any)
	if !ok || len(parts) != 2 {
		return store.Event{}, false
	}
	id, named := parts[0].(string)
	pairs, listed := parts[1].([]any)
	cursor, err := store.ParseCursor(id)
	if !named || !listed || err != nil {
		return store.Event{}, false
	}
	event := store.Event{ID: id, At: store.Millis(cursor.Millis)}
	for i := 0; i+1 < len(pairs); i += 2 {
		if data, isText := pairs[i+1].(string); isText && pairs[i] == fieldEvent {
			event.Data = []byte(data)
		}
	}
	return event, true
}
