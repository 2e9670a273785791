package redisstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Load implements store.Store. A replica refuses it with READONLY.
func (s *Store) Load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return store.Snapshot{}, err
	}
	snapshot, flaw, err := s.load(ctx, key, known)
	if flaw != nil {
		return store.Snapshot{}, flaw.of(key)
	}
	return snapshot, err
}

// load is Load with the flaw of a record that cannot be read.
func (s *Store) load(ctx context.Context, key store.Key, known store.Version) (store.Snapshot, *flaw, error) {
	answer, err := s.run(ctx, s.scripts.load, reads, []string{s.keys.of(key).record},
		strconv.FormatInt(known.Revision, 10), known.Token)
	if err != nil {
		err = s.fault(key, err)
		if errors.Is(err, store.ErrCorrupt) {
			return store.Snapshot{}, &flaw{field: fieldKey, cause: errNotHash}, nil
		}
		return store.Snapshot{}, nil, err
	}
	if answer.word != wordOK && answer.word != wordKnown {
		return store.Snapshot{}, nil, answer.refusal(key)
	}
	clock, ok := answer.millis(0)
	identity, named := answer.text(1)
	if !ok || !named || len(answer.rest) != 3 {
		return store.Snapshot{}, nil, answer.unexpected()
	}
	pairs, ok := answer.rest[2].([]any)
	if !ok {
		return store.Snapshot{}, nil, answer.unexpected()
	}
	found, flaw := readStored(pairs, answer.word == wordOK)
	if flaw != nil {
		return store.Snapshot{}, flaw, nil
	}
	return found.snapshot(key, clock, identity), nil, nil
}

func (s *stored) snapshot(key store.Key, clock store.Millis, identity string) store.Snapshot {
	snapshot := store.Snapshot{
		Version:  s.version,
		Liveness: s.liveness,
		ServedAt: s.servedAt,
		Clock:    clock,
		Identity: identity,
	}
	if s.whole {
		snapshot.Record = &store.Record{Key: key, Version: s.version, Schema: s.schema, Aggregate: s.aggregate}
	}
	return snapshot
}
