package app

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

// minRoutingLease is how long old producers keep a routing answer (protocol, Terms).
const minRoutingLease = 5 * time.Second

// Validate reports every problem at once and names the keys. The orderings of leases and
// timeouts carry the promise that no two members read one shard: a coordinator refuses to
// start without them (protocol H3, H5; trace T15).
func (c Config) Validate() error {
	return errors.Join(c.validateServer(), c.validateStore(), c.Redis.Validate(), c.group().Validate(),
		c.Coordination.validate(), c.validateShards())
}

func (c Config) validateServer() error {
	var problems []error
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		problems = append(problems, fmt.Errorf("listen is %q, it must be host:port", c.Listen))
	}
	if !strings.HasPrefix(c.API.BasePath, "/") {
		problems = append(problems, fmt.Errorf("api.base-path is %q, it must begin with a slash", c.API.BasePath))
	}
	return errors.Join(append(problems, c.metrics().Validate(), c.API.validate(), c.Telemetry.Validate(), c.Log.Validate(), positive("shutdown-timeout", c.ShutdownTimeout))...)
}

func (c Config) validateStore() error {
	var problems []error
	switch {
	case c.Store.inPostgres():
		problems = append(problems, c.Store.Postgres.Validate("store.postgres"))
	case c.Store.Type != StoreMemory && c.Store.Type != StoreRedis:
		problems = append(problems, fmt.Errorf("store.type is %q, it must be %s, %s or %s",
			c.Store.Type, StoreMemory, StoreRedis, StorePostgres))
	}
	if wait := redisstore.WaitReplicas(c.Store.Redis.WaitReplicas); wait != redisstore.WaitAuto && wait != redisstore.WaitOff {
		problems = append(problems, fmt.Errorf("store.redis.wait-replicas is %q, it must be %s or %s",
			wait, redisstore.WaitAuto, redisstore.WaitOff))
	}
	if err := protocol.CheckStreamPrefix(c.Store.KeyPrefix, ""); err != nil {
		problems = append(problems, fmt.Errorf("store.key-prefix: %w", err))
	}
	return errors.Join(problems...)
}

func (c Config) validateShards() error {
	var problems []error
	if c.Limits.MaxShards < 1 {
		problems = append(problems, fmt.Errorf("limits.max-shards is %d, it must be at least 1", c.Limits.MaxShards))
	}
	if n := c.Defaults.InitialShardCount; n < 1 || n > c.Limits.MaxShards {
		problems = append(problems, fmt.Errorf(
			"defaults.initial-shard-count is %d, it must be between 1 and limits.max-shards (%d)", n, c.Limits.MaxShards))
	}
	return errors.Join(problems...)
}

// validate looks at what the group core does not.
func (c Coordination) validate() error {
	problems := []error{
		positive("coordination.event-loop.interval", c.EventLoop.Interval),
		positive("coordination.event-loop.sweep-interval", c.EventLoop.SweepInterval),
		positive("coordination.event-loop.reshard-interval", c.EventLoop.ReshardInterval),
		positive("coordination.event-loop.reshard-scan", c.EventLoop.ReshardScan),
		positive("coordination.state-mutex.ttl-ms", c.StateMutex.ttl()),
		positive("coordination.state-mutex.acquire-timeout-ms", c.StateMutex.acquireTimeout()),
	}
	if c.RoutingLease < minRoutingLease {
		problems = append(problems, fmt.Errorf("coordination.routing-lease is %v, it must be at least %v",
			c.RoutingLease, minRoutingLease))
	}
	if kept := c.Drain.Retention; kept > 0 && kept < time.Second {
		problems = append(problems, fmt.Errorf("coordination.drain.retention is %v, it must be 0, negative or at least 1s", kept))
	}
	if c.StateMutex.RetryIntervalMs < 0 {
		problems = append(problems, fmt.Errorf("coordination.state-mutex.retry-interval-ms is %d, it must not be negative",
			c.StateMutex.RetryIntervalMs))
	}
	return errors.Join(problems...)
}

func positive(key string, d time.Duration) error {
	if d > 0 {
		return nil
	}
	return fmt.Errorf("%s is %v, it must be above 0", key, d)
}
