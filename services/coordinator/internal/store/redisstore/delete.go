package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Delete implements store.Store. With the zero version it first loads the record to
// find what cannot be read, and then removes it if that is still so.
func (s *Store) Delete(ctx context.Context, key store.Key, version store.Version, event []byte) (store.Committed, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	keep := s.options.HistoryRetention.Milliseconds()
	removal, args := s.scripts.remove, []any{strconv.FormatInt(version.Revision, 10), version.Token, keep, event, s.options.HistoryLength}
	if version == (store.Version{}) {
		flaw, err := s.unreadable(ctx, key)
		if err != nil {
			return store.Committed{}, err
		}
		removal, args = s.scripts.purge, []any{keep, event, s.options.HistoryLength, flaw.field}
		if flaw.present {
			args = append(args, flaw.text)
		}
	}
	keys := s.keys.of(key)
	answer, err := s.run(ctx, removal, writes, []string{keys.record, keys.events}, args...)
	if err != nil {
		return store.Committed{}, s.fault(key, err)
	}
	if answer.word != wordOK {
		return store.Committed{}, answer.refusal(key)
	}
	clock, ok := answer.millis(0)
	if !ok {
		return store.Committed{}, answer.unexpected()
	}
	return store.Committed{Version: version, Clock: clock}, s.delist(ctx, key)
}

// unreadable returns what of the record cannot be read, and ErrConflict when all can.
func (s *Store) unreadable(ctx context.Context, key store.Key) (*flaw, error) {
	_, flaw, err := s.load(ctx, key, store.Version{})
	if err != nil {
		return nil, err
	}
	if flaw == nil {
		return nil, fmt.Errorf("%w: %q can be read", store.ErrConflict, key)
	}
	if err := flaw.of(key); !errors.Is(err, store.ErrCorrupt) {
		return nil, err
	}
	return flaw, nil
}
