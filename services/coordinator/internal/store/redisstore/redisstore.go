// Package redisstore keeps the coordinator's metadata in Redis: standalone, behind
// Sentinel or in a cluster (storage design, "Redis layout").
//
//	redisstore.go  options, the store, its probe
//	keys.go        the names of all keys, and back
//	liveness.go    the compact field of a member's liveness, and back
//	script.go      how a script is run: EVALSHA, NOSCRIPT, retries, READONLY
//	fault.go       errors of Redis as errors of the contract
//	load.go …      one file a method; the atomic step of each is in lua/
//	wait.go        a structural write is answered when a replica has it
//	peers.go       who announces itself
//	index.go       the set that List reads, and its repair
//
// Each of Load, Create, Commit, Touch, Delete and History is one script call on one slot, and
// the script is the critical section: nothing is held between calls. Time is the TIME
// of the server that owns the slot. Keys of records have no TTL. With replicas, Create
// and Commit wait for one of them in a second call (protocol M3).
//
// Not obvious:
//   - Scripts check everything before they write, and their first write is the one that
//     Redis may refuse, so that a refusal leaves nothing half done.
//   - A replica refuses to load: what it holds may be old, what it lacks may exist.
//   - Create and Commit are safe to repeat, by their token; so this package repeats
//     calls whose connection broke, and go-redis does not repeat them beneath it.
package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// layoutVersion is the version of the hash's own fields. A record with a higher one is
// store.ErrUnsupportedSchema.
const layoutVersion = 1

// Options are the settings of a Store. The zero value is the default of each.
type Options struct {
	// KeyPrefix is the prefix of all keys; empty is protocol.DefaultKeyPrefix. It
	// follows the rule of stream prefixes.
	KeyPrefix string
	// HistoryLength is about how many events a record's history keeps; 0 is 1000.
	HistoryLength int
	// HistoryRetention is how long the history stays after the record was deleted; 0
	// is 7 days.
	HistoryRetention time.Duration
	// LeaseWait bounds how long Lease waits for another holder; 0 is 5 s, a negative
	// value does not wait.
	LeaseWait time.Duration
	// WaitReplicas says whether Create and Commit wait for a replica (protocol M3); empty
	// is WaitAuto.
	WaitReplicas WaitReplicas
	// WaitTimeout bounds that wait; 0 is 1 s. It is shorter than the read timeout of the
	// client.
	WaitTimeout time.Duration
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
	if o.WaitReplicas == "" {
		o.WaitReplicas = WaitAuto
	}
	if o.WaitTimeout == 0 {
		o.WaitTimeout = time.Second
	}
	return o
}

// Store is a store.Archive in Redis. It is safe for concurrent use.
type Store struct {
	client  redis.UniversalClient
	options Options
	keys    keyspace
	scripts scripts
}

var _ store.Archive = (*Store)(nil)

// New returns a Store that uses the client, which stays the caller's to close and must
// not route commands to replicas (libs/redisx builds such clients). It sends nothing.
// It fails with store.ErrInvalid on a bad key prefix or wait.
func New(client redis.UniversalClient, options Options) (*Store, error) {
	options = options.withDefaults()
	if err := options.checkWait(); err != nil {
		return nil, err
	}
	keys, err := newKeyspace(options.KeyPrefix)
	if err != nil {
		return nil, err
	}
	compiled, err := compile()
	if err != nil {
		return nil, err
	}
	return &Store{client: client, options: options, keys: keys, scripts: compiled}, nil
}

// Ability is what the server lets scripts do.
type Ability struct {
	// Identity is the server's identity, store.IdentityUnknown where INFO is refused
	// in scripts: evidence by identity is off then (protocol M1), and start-up says so.
	Identity string
	// Clock is the store's clock.
	Clock store.Millis
}

// Probe asks once, at start-up, what the server lets scripts do, by doing it. Nothing
// of it is kept: each load and each guarded commit reads the identity anew.
func (s *Store) Probe(ctx context.Context) (Ability, error) {
	reply, err := s.run(ctx, s.scripts.ping, reads, []string{s.keys.index()})
	if err != nil {
		return Ability{}, fmt.Errorf("probe redis: %w", s.fault(store.Key{}, err))
	}
	clock, ok := reply.millis(0)
	identity, named := reply.text(1)
	if !ok || !named {
		return Ability{}, reply.unexpected()
	}
	return Ability{Identity: identity, Clock: clock}, nil
}

// Ping implements store.Store. A replica does not answer it.
func (s *Store) Ping(ctx context.Context) (store.Millis, error) {
	ability, err := s.Probe(ctx)
	return ability.Clock, err
}
