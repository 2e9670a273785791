package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// scanCount is how many keys a step of SCAN looks at.
const scanCount = 1000

// List implements store.Store, in order of stream and group. Entries of the index that
// are no valid names are left out.
func (s *Store) List(ctx context.Context) ([]store.Key, error) {
	entries, err := s.client.SMembers(ctx, s.keys.index()).Result()
	if err != nil {
		return nil, s.indexFault(err, reads)
	}
	keys := make([]store.Key, 0, len(entries))
	for _, entry := range entries {
		if key, err := store.ParseKey(entry, s.options.KeyPrefix); err == nil {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, compare)
	return keys, nil
}

// RepairIndex implements store.Indexer. It walks all keys of all primaries with SCAN.
func (s *Store) RepairIndex(ctx context.Context) (store.Repair, error) {
	found, err := s.scan(ctx)
	if err != nil {
		return store.Repair{}, err
	}
	entries, err := s.client.SMembers(ctx, s.keys.index()).Result()
	if err != nil {
		return store.Repair{}, s.indexFault(err, reads)
	}
	var done store.Repair
	for _, entry := range entries {
		key, err := store.ParseKey(entry, s.options.KeyPrefix)
		if err == nil {
			if _, there := found[key]; there {
				delete(found, key)
				continue
			}
		}
		removed, err := s.strike(ctx, entry, key, err == nil)
		if err != nil {
			return done, err
		}
		if removed {
			done.Removed = append(done.Removed, entry)
		}
	}
	for key := range found {
		if err := s.enlist(ctx, key); err != nil {
			return done, err
		}
		done.Added = append(done.Added, key)
	}
	slices.SortFunc(done.Added, compare)
	slices.Sort(done.Removed)
	return done, nil
}

// strike takes an entry out of the index unless its record is there now.
func (s *Store) strike(ctx context.Context, entry string, key store.Key, named bool) (bool, error) {
	if named {
		there, err := s.exists(ctx, key)
		if err != nil || there {
			return false, err
		}
		return true, s.delist(ctx, key)
	}
	if err := s.client.SRem(ctx, s.keys.index(), entry).Err(); err != nil {
		return false, s.indexFault(err, writes)
	}
	return true, nil
}

// scan returns the keys of all records on all primaries.
func (s *Store) scan(ctx context.Context) (map[store.Key]struct{}, error) {
	found := make(map[store.Key]struct{})
	var mu sync.Mutex
	walk := func(ctx context.Context, node redis.Cmdable) error {
		names := node.Scan(ctx, 0, s.keys.pattern(), scanCount).Iterator()
		for names.Next(ctx) {
			if key, ours := s.keys.parse(names.Val()); ours {
				mu.Lock()
				found[key] = struct{}{}
				mu.Unlock()
			}
		}
		return names.Err()
	}
	var err error
	if cluster, many := s.client.(*redis.ClusterClient); many {
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return walk(ctx, node) })
	} else {
		err = walk(ctx, s.client)
	}
	if err != nil {
		return nil, s.indexFault(err, reads)
	}
	return found, nil
}

// enlist names the record in the index.
func (s *Store) enlist(ctx context.Context, key store.Key) error {
	if err := s.client.SAdd(ctx, s.keys.index(), key.String()).Err(); err != nil {
		return s.indexFault(err, writes)
	}
	return nil
}

// delist takes a record that is gone out of the index, and puts it back when it was
// made anew in the meantime.
func (s *Store) delist(ctx context.Context, key store.Key) error {
	if err := s.client.SRem(ctx, s.keys.index(), key.String()).Err(); err != nil {
		return s.indexFault(err, writes)
	}
	there, err := s.exists(ctx, key)
	if err != nil || !there {
		return err
	}
	return s.enlist(ctx, key)
}

func (s *Store) exists(ctx context.Context, key store.Key) (bool, error) {
	there, err := s.client.Exists(ctx, s.keys.of(key).record).Result()
	if err != nil {
		return false, s.indexFault(err, reads)
	}
	return there == 1, nil
}

// indexFault is fault for a command that go-redis may have sent several times.
func (s *Store) indexFault(err error, effect effect) error {
	failed := s.fault(store.Key{}, &callError{cause: err, written: bool(effect)})
	return fmt.Errorf("index %s: %w", s.keys.index(), failed)
}

func compare(a, b store.Key) int {
	return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Group, b.Group))
}
