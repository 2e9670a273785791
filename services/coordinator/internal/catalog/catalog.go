// Package catalog creates, shows and deletes streams and groups, and reads the history of
// groups.
//
// Every workflow changes the stream's record first (protocol L1), then Redis, then the
// group's own record, and says in the stream's record how far it has come. A workflow
// that is broken off anywhere is completed by the same request again; until then the
// group is not active. A multi-step lease on the stream keeps workflows apart.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Shards makes and removes the data side of a stream in Redis.
type Shards interface {
	// Provision makes the shard keys 0 … shards-1 with the Redis consumer groups, and
	// tells how many of the groups were there before. mark grows with every creation and
	// resharding of the stream, and a creation with a lower one than was seen makes nothing
	// (protocol L2). It may be repeated.
	Provision(ctx context.Context, prefix string, shards int, groups []stream.Group, mark int64) (existing int, err error)
	// Destroy removes a Redis consumer group from the shards, and the keys that no
	// other group uses. It may be repeated.
	Destroy(ctx context.Context, prefix string, shards int, group string) error
}

// Config is the catalog's part of the configuration.
type Config struct {
	Group group.Config
	// InitialShards is the shard count of a stream created without one.
	InitialShards int
	// RoutingLease is how long producers may use a routing answer (L3).
	RoutingLease time.Duration
	// LeaseTTL bounds one workflow's multi-step lease.
	LeaseTTL time.Duration
}

// DefaultConfig returns the defaults of the suite.
func DefaultConfig() Config {
	return Config{
		Group:         group.DefaultConfig(),
		InitialShards: protocol.DefaultInitialShards,
		RoutingLease:  protocol.DefaultRoutingLease,
		LeaseTTL:      30 * time.Second,
	}
}

// Catalog is safe for concurrent use.
type Catalog struct {
	cfg    Config
	store  store.Archive
	groups *loop.Loop
	shards Shards // nil when provisioning is off
	nonce  func() string
	log    *slog.Logger
}

// New returns a catalog. shards is nil when provisioning is off: groups are then created
// without touching Redis streams, and each starts with a barrier (J1).
func New(cfg Config, s store.Archive, groups *loop.Loop, shards Shards, nonce func() string, log *slog.Logger) *Catalog {
	return &Catalog{cfg: cfg, store: s, groups: groups, shards: shards, nonce: nonce, log: log}
}

// alone runs a workflow under the stream's multi-step lease, whose token it is given.
func (c *Catalog) alone(ctx context.Context, prefix string, workflow func(token string) error) (err error) {
	lease, err := c.store.Lease(ctx, store.Key{Stream: prefix}, c.cfg.LeaseTTL)
	if errors.Is(err, store.ErrBusy) {
		return protocol.Errorf(protocol.CodeStateMutexUnavailable,
			"another create or delete of stream %q is under way, try again", prefix).Because(err)
	}
	if err != nil {
		return loop.Fault(err)
	}
	defer func() {
		// The caller may be gone; the lease is given back all the same.
		release, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if releaseErr := lease.Release(release); releaseErr != nil {
			c.log.Warn("multi-step lease not given back, it ends by itself", "stream", prefix, "error", releaseErr)
		}
	}()
	return workflow(lease.Token())
}

// entry is a stream's record with its version; a zero version is a stream to be made.
type entry struct {
	stream  stream.Stream
	version store.Version
	clock   store.Millis
}

// load reads a stream's record. found is false when there is none.
func (c *Catalog) load(ctx context.Context, prefix string) (e entry, found bool, err error) {
	record, loaded, err := loop.LoadStream(ctx, c.store, prefix)
	if errors.Is(err, store.ErrNotFound) {
		return entry{}, false, nil
	}
	if err != nil {
		return entry{}, false, loop.Fault(err)
	}
	return entry{stream: record, version: loaded.Version, clock: loaded.Clock}, true, nil
}

// save creates or commits the stream's record, if it differs from what e holds.
func (c *Catalog) save(ctx context.Context, e *entry, next stream.Stream, lease string) error {
	if e.version != (store.Version{}) && next.MetadataVersion == e.stream.MetadataVersion {
		return nil
	}
	aggregate, err := codec.EncodeStream(next)
	if err != nil {
		return fmt.Errorf("save stream %s: %w", next.Prefix, err)
	}
	key := store.Key{Stream: next.Prefix}
	var done store.Committed
	if e.version == (store.Version{}) {
		done, err = c.store.Create(ctx, store.Create{Key: key, Token: c.nonce(), Schema: codec.Schema, Aggregate: aggregate})
	} else {
		done, err = c.store.Commit(ctx, store.Commit{
			Key: key, Prev: e.version, Token: c.nonce(), Schema: codec.Schema, Aggregate: aggregate, Lease: lease,
		})
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrExists) {
		return protocol.Errorf(protocol.CodeStateVersionConflict, "stream %q changed meanwhile, try again", next.Prefix).Because(err)
	}
	if err != nil {
		return loop.Fault(err)
	}
	e.stream, e.version, e.clock = next, done.Version, done.Clock
	return nil
}
