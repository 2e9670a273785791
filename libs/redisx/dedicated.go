package redisx

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrClientKind comes when a client is of a kind that Dedicated cannot build again.
var ErrClientKind = errors.New("unsupported kind of Redis client")

// blockingReadTimeout bounds replies of a dedicated client. go-redis adds the
// BLOCK time of a command and a slack of its own, so the socket always outlives a
// blocking read.
const blockingReadTimeout = 5 * time.Second

// Dedicated returns a second client of the same Redis whose connections serve
// blocking reads only, so that acknowledgements on rdb never wait for a free one
// (field case F17). poolSize is the number of reads that may block at once, per
// node; below 1 it counts as 1. The caller closes it, before rdb: for Sentinel it
// finds the primary through rdb.
//
// The client routes everything to primaries, also where rdb reads from replicas
// (field case F20), honours the deadline of a context, and repeats no command by
// itself: what to do about a broken read is the reader's decision. Hooks of rdb do
// not run on it. It fails only with ErrClientKind.
func Dedicated(rdb redis.UniversalClient, poolSize int) (redis.UniversalClient, error) {
	poolSize = max(poolSize, 1)
	switch client := rdb.(type) {
	case *redis.Client:
		return redis.NewClient(dedicatedOptions(*client.Options(), poolSize)), nil
	case *redis.ClusterClient:
		return redis.NewClusterClient(dedicatedCluster(*client.Options(), poolSize)), nil
	default:
		return nil, fmt.Errorf("%w: %T", ErrClientKind, rdb)
	}
}

func dedicatedOptions(o redis.Options, poolSize int) *redis.Options {
	o.PoolSize, o.MaxActiveConns, o.MinIdleConns, o.MaxIdleConns = poolSize, 0, 0, 0
	o.MaxConcurrentDials = 0
	o.ReadTimeout = blockingReadTimeout
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.ClientSideCacheConfig, o.ClientSideCache = nil, nil
	o.PushNotificationProcessor = nil // it belongs to one client; the new one makes its own.
	o.MaintNotificationsConfig = noMaintenance()
	return &o
}

func dedicatedCluster(o redis.ClusterOptions, poolSize int) *redis.ClusterOptions {
	o.PoolSize, o.MaxActiveConns, o.MinIdleConns, o.MaxIdleConns = poolSize, 0, 0, 0
	o.MaxConcurrentDials = 0
	o.ReadTimeout = blockingReadTimeout
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.ReadOnly, o.RouteByLatency, o.RouteRandomly = false, false, false
	o.PushNotificationProcessor = nil
	o.MaintNotificationsConfig = noMaintenance()
	return &o
}
