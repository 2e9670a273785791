// Package pgstore keeps the coordinator's metadata in PostgreSQL (storage design; ADR 0017).
//
//	pgstore.go   options, the store, its probe, its list
//	schema.go    the migrations, which are in migrations/
//	call.go      how a function is called: retries, and what may have been written
//	fault.go     errors of PostgreSQL and words of functions as errors of the contract
//	wire.go      beats and what else functions take as JSON
//	load.go …    one file a method
//
// Each of Create, Commit, Touch and Delete is one call of a function that a migration made,
// in a transaction of its own, and each of Load and History one statement: nothing is held
// between calls. Time is the clock of the server, read after the record is locked.
//
// Not obvious:
//   - Functions lock the record first and read the rest in later statements, which see what
//     was committed meanwhile. They refuse to work in another isolation than READ COMMITTED.
//   - A server that takes no writes answers nothing: what a standby holds may be old, what it
//     lacks may exist.
//   - Create and Commit are safe to repeat, by their token; so this package repeats calls
//     whose connection broke.
package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Options are the settings of a Store. The zero value is the default of each.
type Options struct {
	// KeyPrefix is the prefix of the coordinator's own keys in Redis, which no stream may
	// have; empty is protocol.DefaultKeyPrefix.
	KeyPrefix string
	// HistoryLength is about how many events a record's history keeps; 0 is 1000.
	HistoryLength int
	// HistoryRetention is how long the history stays at least after the record was deleted;
	// 0 is 7 days.
	HistoryRetention time.Duration
	// LeaseWait bounds how long Lease waits for another holder; 0 is 5 s, a negative value
	// does not wait.
	LeaseWait time.Duration
}

func (o Options) withDefaults() Options {
	if o.KeyPrefix == "" {
		o.KeyPrefix = protocol.DefaultKeyPrefix
	}
	if o.HistoryLength == 0 {
		o.HistoryLength = 1000
	}
	if o.HistoryRetention == 0 {
		o.HistoryRetention = 7 * 24 * time.Hour
	}
	if o.LeaseWait == 0 {
		o.LeaseWait = 5 * time.Second
	}
	return o
}

// Store is a store.Archive in PostgreSQL. It is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	options Options
}

var _ store.Archive = (*Store)(nil)

// New returns a Store that uses the pool, which stays the caller's to close; libs/postgres
// opens such pools. It sends nothing; Migrate makes the tables. It fails with
// store.ErrInvalid on a bad key prefix.
func New(pool *pgxpool.Pool, options Options) (*Store, error) {
	options = options.withDefaults()
	if err := protocol.CheckStreamPrefix(options.KeyPrefix, ""); err != nil {
		return nil, fmt.Errorf("%w: key prefix: %w", store.ErrInvalid, err)
	}
	return &Store{pool: pool, options: options}, nil
}

// Ping implements store.Store. A server that takes no writes does not answer it.
func (s *Store) Ping(ctx context.Context) (store.Millis, error) {
	var clock store.Millis
	var identity string
	err := s.call(ctx, reads, into(&clock, &identity), "SELECT rsc_clock(), rsc_identity()")
	if err != nil {
		return 0, fmt.Errorf("ask PostgreSQL for its clock: %w", err)
	}
	return clock, nil
}

// List implements store.Store. It leaves out names that no record may have, which only a
// hand in the database writes.
func (s *Store) List(ctx context.Context) ([]store.Key, error) {
	var streams, groups []string
	err := s.call(ctx, reads, into(&streams, &groups), `
		SELECT coalesce(array_agg(stream_prefix ORDER BY stream_prefix, consumer_group), '{}'),
			coalesce(array_agg(consumer_group ORDER BY stream_prefix, consumer_group), '{}')
		FROM (SELECT rsc_identity()) AS primary_only, rsc_record`)
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	keys := make([]store.Key, 0, len(streams))
	for i := range streams {
		key := store.Key{Stream: streams[i], Group: groups[i]}
		if key.Check(s.options.KeyPrefix) == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// RepairIndex implements store.Indexer: the table of records is the index.
func (s *Store) RepairIndex(context.Context) (store.Repair, error) { return store.Repair{}, nil }
