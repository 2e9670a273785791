package memstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, c store.Create) (store.Committed, error) {
	if err := s.enter(ctx, c.Check(protocol.DefaultKeyPrefix)); err != nil {
		return store.Committed{}, err
	}
	defer s.mu.Unlock()
	version := store.Version{Revision: 1, Token: c.Token}
	if found := s.image.records[c.Key]; found != nil {
		if found.version == version && found.spoiled == "" {
			return store.Committed{Version: version, Clock: s.now()}, nil
		}
		return store.Committed{}, store.ErrExists
	}
	s.image.records[c.Key] = &record{
		version:   version,
		schema:    c.Schema,
		aggregate: slices.Clone(c.Aggregate),
		liveness:  make(map[string]store.Liveness),
	}
	clock := s.now()
	s.image.remember(c.Key, c.Event, clock)
	return store.Committed{Version: version, Clock: clock}, nil
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	if err := s.enter(ctx, c.Check(protocol.DefaultKeyPrefix)); err != nil {
		return store.Committed{}, err
	}
	defer s.mu.Unlock()
	found, err := s.readable(c.Key)
	if err != nil {
		return store.Committed{}, err
	}
	clock := s.now()
	next := store.Version{Revision: c.Prev.Revision + 1, Token: c.Token}
	if found.version == next {
		return found.again(c.Beats, next, clock), nil
	}
	if err := s.guard(found, &c, clock); err != nil {
		return store.Committed{}, err
	}
	for _, member := range c.Forget {
		delete(found.liveness, member)
	}
	done := store.Committed{Version: next, Clock: clock}
	done.Deadlines, done.Applied = found.hear(c.Beats, c.Newcomers, clock)
	found.version, found.schema, found.aggregate = next, c.Schema, slices.Clone(c.Aggregate)
	found.servedAt = clock
	s.image.remember(c.Key, c.Event, clock)
	return done, nil
}

// Touch implements store.Store.
func (s *Store) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	if err := s.enter(ctx, t.Check(protocol.DefaultKeyPrefix)); err != nil {
		return store.Touched{}, err
	}
	defer s.mu.Unlock()
	found, err := s.readable(t.Key)
	if err != nil {
		return store.Touched{}, err
	}
	if found.version != t.Version {
		return store.Touched{}, store.ErrConflict
	}
	clock := s.now()
	if err := s.guardTouch(found, &t, clock); err != nil {
		return store.Touched{}, err
	}
	// A servedAt of the future belongs to a clock that has gone back.
	if clock < found.servedAt || clock >= found.servedAt.Add(t.ServedEvery) {
		found.servedAt = clock
	}
	done := store.Touched{Clock: clock}
	done.Deadlines, done.Applied = found.hear(t.Beats, t.Newcomers, clock)
	return done, nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key store.Key, version store.Version, event []byte) (store.Committed, error) {
	if err := s.enter(ctx, key.Check(protocol.DefaultKeyPrefix)); err != nil {
		return store.Committed{}, err
	}
	defer s.mu.Unlock()
	found, err := s.readable(key)
	switch {
	case found == nil && version == (store.Version{}) && s.image.records[key] != nil:
		// Spoiled, and that is what the zero version is for.
	case err != nil:
		return store.Committed{}, err
	case found.version != version:
		return store.Committed{}, store.ErrConflict
	}
	delete(s.image.records, key)
	clock := s.now()
	s.image.remember(key, event, clock)
	return store.Committed{Version: version, Clock: clock}, nil
}

// guard refuses a commit whose premises do not hold.
func (s *Store) guard(found *record, c *store.Commit, clock store.Millis) error {
	if found.version != c.Prev {
		return fmt.Errorf("%w: version", store.ErrConflict)
	}
	if s.differs(c.Identity) {
		return fmt.Errorf("%w: store identity", store.ErrConflict)
	}
	if c.Lease != "" && !s.image.leases[c.Key].by(c.Lease, clock) {
		return fmt.Errorf("%w: lease", store.ErrConflict)
	}
	for member, observed := range c.Unmoved {
		stored := found.liveness[member]
		if stored.Deadline != observed.Deadline || stored.Sequence != observed.Sequence {
			return fmt.Errorf("%w: liveness of %s", store.ErrConflict, member)
		}
	}
	return nil
}

// differs tells whether an identity that a decision rests on is another store's.
func (s *Store) differs(identity string) bool {
	return identity != "" && identity != store.IdentityUnknown && identity != s.identity
}

// guardTouch refuses a touch of another store's state, and one that rests on a cached state
// where a lease has run out: a commit that the store has lost may have ended the holds (H3).
func (s *Store) guardTouch(found *record, t *store.Touch, clock store.Millis) error {
	if s.differs(t.Identity) {
		return fmt.Errorf("%w: store identity", store.ErrConflict)
	}
	if t.Identity != "" {
		return nil
	}
	for i := range t.Beats {
		if b := &t.Beats[i]; !b.Forced && found.liveness[b.Member].Deadline <= clock {
			return fmt.Errorf("%w: lease of %s", store.ErrConflict, b.Member)
		}
	}
	return nil
}

// hear applies beats in order, then newcomers.
func (r *record) hear(beats []store.Beat, newcomers []store.Newcomer, clock store.Millis) ([]store.Millis, []bool) {
	deadlines, applied := make([]store.Millis, len(beats)), make([]bool, len(beats))
	for i := range beats {
		state := r.liveness[beats[i].Member]
		if applied[i] = !heard(&state) || !beats[i].Repeats(state); applied[i] {
			state = renewed(state, &beats[i], clock)
			r.liveness[beats[i].Member] = state
		}
		deadlines[i] = state.Deadline
	}
	for _, newcomer := range newcomers {
		state := r.liveness[newcomer.Member]
		state.Successor, state.SuccessorAt = newcomer.Incarnation, clock
		r.liveness[newcomer.Member] = state
	}
	return deadlines, applied
}

// again answers a commit that was written before and asked for once more.
func (r *record) again(beats []store.Beat, version store.Version, clock store.Millis) store.Committed {
	done := store.Committed{
		Version:   version,
		Clock:     clock,
		Deadlines: make([]store.Millis, len(beats)),
		Applied:   make([]bool, len(beats)),
	}
	for i := range beats {
		state := r.liveness[beats[i].Member]
		done.Deadlines[i] = state.Deadline
		done.Applied[i] = state.Incarnation == beats[i].Incarnation &&
			state.Sequence == max(beats[i].Sequence, 0) && state.RequestID == beats[i].RequestID
	}
	return done
}

// heard tells whether the member has liveness; a newcomer's mark alone is none.
func heard(state *store.Liveness) bool { return state.Deadline != 0 }

func renewed(state store.Liveness, beat *store.Beat, clock store.Millis) store.Liveness {
	state.Deadline = clock.Add(beat.Lease)
	state.HeardAt = clock
	state.Incarnation = beat.Incarnation
	state.Sequence = max(beat.Sequence, 0)
	state.RequestID = beat.RequestID
	state.SyncVersion = beat.SyncVersion
	state.Detail = slices.Clone(beat.Detail)
	return state
}
