// Package memstore keeps the coordinator's metadata in the memory of one process: for
// unit tests and for development. A mutex is its atomic step, and it reads no clock of
// its own, so that a test moves the time.
//
// Dump and Restore make it a store that went back in time, SetIdentity one that was
// restarted or failed over, Spoil one with a record that cannot be read.
package memstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Identity is the identity of a new Store, until SetIdentity.
const Identity = "memory"

var errSpoiled = errors.New("spoiled")

// Store is a store.Archive in memory. It is safe for concurrent use.
type Store struct {
	now func() store.Millis

	mu       sync.Mutex
	identity string
	image    Image
	peers    map[string]announced // no part of the image: who runs is no matter of what was stored
}

var _ store.Archive = (*Store)(nil)

// New returns an empty Store whose clock is now; it is called with the Store locked.
func New(now func() store.Millis) *Store {
	return &Store{now: now, identity: Identity, image: newImage(), peers: make(map[string]announced)}
}

// SetIdentity changes what Snapshot.Identity says from now on, as a restart or a
// failover would; store.IdentityUnknown makes it a store that cannot tell.
func (s *Store) SetIdentity(identity string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identity = identity
}

// Spoil makes the record unreadable at the guard field named, as a hand in the
// database would; only Delete with the zero version gets rid of it (M6).
func (s *Store) Spoil(key store.Key, field string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.image.records[key]; found != nil {
		found.spoiled = field
	}
}

// Load implements store.Store.
func (s *Store) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	if err := s.enter(ctx, key.Check(protocol.DefaultKeyPrefix)); err != nil {
		return store.Snapshot{}, err
	}
	defer s.mu.Unlock()
	found, err := s.readable(key)
	if err != nil {
		return store.Snapshot{}, err
	}
	snapshot := store.Snapshot{
		Version:  found.version,
		Liveness: cloneLiveness(found.liveness),
		ServedAt: found.servedAt,
		Clock:    s.now(),
		Identity: s.identity,
	}
	if known != found.version {
		snapshot.Record = &store.Record{
			Key:       key,
			Version:   found.version,
			Schema:    found.schema,
			Aggregate: slices.Clone(found.aggregate),
		}
	}
	return snapshot, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context) ([]store.Key, error) {
	if err := s.enter(ctx, nil); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Keys(s.image.records), func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Group, b.Group))
	}), nil
}

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) (store.Millis, error) {
	if err := s.enter(ctx, nil); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return s.now(), nil
}

// enter locks the Store unless the request is refused or its context has ended.
func (s *Store) enter(ctx context.Context, refused error) error {
	if refused != nil {
		return refused
	}
	if err := ctx.Err(); err != nil {
		return &store.UnavailableError{State: "TIMEOUT", Cause: err}
	}
	s.mu.Lock()
	return nil
}

// readable returns the record under key, which is not spoiled.
func (s *Store) readable(key store.Key) (*record, error) {
	found := s.image.records[key]
	switch {
	case found == nil:
		return nil, store.ErrNotFound
	case found.spoiled != "":
		return nil, &store.CorruptError{Key: key, Field: found.spoiled, Cause: errSpoiled}
	default:
		return found, nil
	}
}
