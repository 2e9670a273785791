package redisstore

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Create implements store.Store. The index, which lies on another slot, names the
// record before it is there, so that no crash leaves a record that nobody lists, and
// again afterwards, in case a Delete took the name out in between.
func (s *Store) Create(ctx context.Context, c store.Create) (store.Committed, error) {
	if err := c.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	if err := s.enlist(ctx, c.Key); err != nil {
		return store.Committed{}, err
	}
	done, history, err := s.create(ctx, c)
	if err == nil || errors.Is(err, store.ErrExists) {
		if failed := s.enlist(ctx, c.Key); failed != nil {
			return store.Committed{}, failed
		}
	}
	if err != nil {
		return store.Committed{}, err
	}
	if err := s.replicated(ctx, s.keys.of(c.Key).record, history); err != nil {
		return store.Committed{}, err
	}
	return done, nil
}

// create returns with the answer the history that a replica has to follow.
func (s *Store) create(ctx context.Context, c store.Create) (done store.Committed, history string, err error) {
	keys := s.keys.of(c.Key)
	answer, err := s.run(ctx, s.scripts.create, writes, []string{keys.record, keys.events},
		c.Token, c.Schema, layoutVersion, c.Aggregate, c.Event, s.options.HistoryLength)
	if err != nil {
		return store.Committed{}, "", s.fault(c.Key, err)
	}
	if answer.word != wordOK {
		return store.Committed{}, "", answer.refusal(c.Key)
	}
	if history, err = answer.takeHistory(); err != nil {
		return store.Committed{}, "", err
	}
	clock, ok := answer.millis(0)
	if !ok {
		return store.Committed{}, "", answer.unexpected()
	}
	return store.Committed{Version: store.Version{Revision: 1, Token: c.Token}, Clock: clock}, history, nil
}
