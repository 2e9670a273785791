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
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Shards makes and removes the data side of a stream in Redis.
type Shards interface {
	// Provision makes the shards with the Redis consumer groups, and tells how many of the
	// groups were there before, counted per shard. mark grows with every creation and
	// resharding of the stream; one with a lower mark than was seen makes nothing (L2). It
	// may be repeated.
	Provision(ctx context.Context, prefix string, indexes []int, groups []stream.Group, mark int64) (existing int, err error)
	// Destroy removes a Redis consumer group from the shards 0 … shards-1, and the keys
	// that no other group uses. It may be repeated.
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
	// Schema tells, at each write, the schema that records are written in (storage, Versions).
	Schema func() int
}

// DefaultConfig returns the defaults of the suite.
func DefaultConfig() Config {
	return Config{
		Group:         group.DefaultConfig(),
		InitialShards: protocol.DefaultInitialShards,
		RoutingLease:  protocol.DefaultRoutingLease,
		LeaseTTL:      30 * time.Second,
		Schema:        codec.Newest,
	}
}

// Catalog is safe for concurrent use.
type Catalog struct {
	cfg     Config
	store   store.Archive
	records records.Records
	groups  *loop.Loop
	shards  Shards // nil when provisioning is off
	nonce   func() string
	log     *slog.Logger
}

// New returns a catalog. shards is nil when provisioning is off: groups are then created
// without touching Redis streams, and each starts with a barrier (J1).
func New(cfg Config, s store.Archive, groups *loop.Loop, shards Shards, nonce func() string, log *slog.Logger) *Catalog {
	kept := records.Records{Store: s, Nonce: nonce, LeaseTTL: cfg.LeaseTTL, Schema: cfg.Schema, Log: log}
	return &Catalog{cfg: cfg, store: s, records: kept, groups: groups, shards: shards, nonce: nonce, log: log}
}

// alone runs a workflow under the stream's multi-step lease, whose token it is given.
func (c *Catalog) alone(ctx context.Context, prefix string, workflow func(token string) error) error {
	return c.records.Alone(ctx, prefix, func(lease store.Lease) error { return workflow(lease.Token()) })
}
