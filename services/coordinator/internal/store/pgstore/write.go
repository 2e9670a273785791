package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// answer is what functions answer that write a record; what is null where there is no more
// to say than the word.
type answer struct {
	word      string
	clock     *store.Millis
	deadlines []store.Millis
	applied   []bool
	what      *string
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, c store.Create) (store.Committed, error) {
	if err := c.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	var a answer
	err := s.call(ctx, writes, into(&a.word, &a.clock), "SELECT word, clock FROM rsc_create($1, $2, $3, $4, $5, $6, $7)",
		c.Key.Stream, c.Key.Group, []byte(c.Token), c.Schema, orEmpty(c.Aggregate), c.Event, s.options.HistoryLength)
	if err != nil {
		return store.Committed{}, fmt.Errorf("create %q: %w", c.Key, err)
	}
	return a.committed(c.Key, store.Version{Revision: 1, Token: c.Token})
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	if err := c.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	forget := c.Forget
	if forget == nil {
		forget = []string{}
	}
	var a answer
	err := s.call(ctx, writes, into(&a.word, &a.clock, &a.deadlines, &a.applied, &a.what),
		"SELECT word, clock, deadlines, applied, what FROM rsc_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
		c.Key.Stream, c.Key.Group, c.Prev.Revision, []byte(c.Prev.Token), []byte(c.Token),
		c.Schema, orEmpty(c.Aggregate), c.Identity, []byte(c.Lease), wireUnmoved(c.Unmoved), forget,
		wireBeats(c.Beats), wireNewcomers(c.Newcomers), c.Event, s.options.HistoryLength)
	if err != nil {
		return store.Committed{}, fmt.Errorf("commit %q: %w", c.Key, err)
	}
	return a.committed(c.Key, store.Version{Revision: c.Prev.Revision + 1, Token: c.Token})
}

// Touch implements store.Store: one call that reads no aggregate.
func (s *Store) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	if err := t.Check(s.options.KeyPrefix); err != nil {
		return store.Touched{}, err
	}
	var a answer
	err := s.call(ctx, writes, into(&a.word, &a.clock, &a.deadlines, &a.applied, &a.what),
		"SELECT word, clock, deadlines, applied, what FROM rsc_touch($1, $2, $3, $4, $5, $6, $7, $8)",
		t.Key.Stream, t.Key.Group, t.Version.Revision, []byte(t.Version.Token), t.Identity,
		int64(t.ServedEvery/time.Millisecond), wireBeats(t.Beats), wireNewcomers(t.Newcomers))
	if err != nil {
		return store.Touched{}, fmt.Errorf("touch %q: %w", t.Key, err)
	}
	done, err := a.committed(t.Key, t.Version)
	return store.Touched{Clock: done.Clock, Deadlines: done.Deadlines, Applied: done.Applied}, err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, version store.Version, event []byte) (store.Committed, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return store.Committed{}, err
	}
	var a answer
	err := s.call(ctx, writes, into(&a.word, &a.clock, &a.what),
		"SELECT word, clock, what FROM rsc_delete($1, $2, $3, $4, $5, $6, $7)",
		key.Stream, key.Group, version.Revision, []byte(version.Token), event,
		s.options.HistoryLength, s.options.HistoryRetention.Milliseconds())
	if err != nil {
		return store.Committed{}, fmt.Errorf("delete %q: %w", key, err)
	}
	return a.committed(key, version)
}

// committed returns the answer as the contract's, or the refusal that it is.
func (a *answer) committed(key store.Key, version store.Version) (store.Committed, error) {
	if err := refusal(key, a.word, a.what); err != nil {
		return store.Committed{}, err
	}
	if a.clock == nil {
		return store.Committed{}, refusal(key, "ok without a clock", nil)
	}
	return store.Committed{Version: version, Clock: *a.clock, Deadlines: a.deadlines, Applied: a.applied}, nil
}
