package httpapi

import (
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// Config is what the API needs to know. A zero field takes its default.
type Config struct {
	// BasePath is the prefix of all paths but /healthz, /readyz and /version
	// (protocol.BasePath). It begins with a slash; "/" serves the API at the root.
	BasePath string
	// MaxShards is limits.max-shards: the largest shard count, and the most entries that
	// a list of a heartbeat may have (protocol.DefaultMaxShards).
	MaxShards int
	// KeyPrefix is the prefix of the coordinator's own Redis keys, with which no stream
	// prefix may begin (protocol.DefaultKeyPrefix).
	KeyPrefix string
	// Timing is what the compatibility endpoint reports.
	Timing Timing
	// Build is what /version reports.
	Build protocol.VersionResponse
	// Process is what the gateway is told of this coordinator and its settings.
	Process protocol.SystemProcess
	// CallTimeout bounds heartbeats and reads below the API (5 s), MutationTimeout all else
	// (60 s). Past it the answer is 503 STORE_UNAVAILABLE.
	CallTimeout, MutationTimeout time.Duration
}

// Timing holds the running values of the group protocol (protocol, Terms). Zero fields
// take the protocol's defaults.
type Timing struct {
	HeartbeatInterval, MemberLease, RebalanceTimeout time.Duration
}

// Deps are the parts that the API stands on. All but Guard, Gate, StaleRouting,
// Tracing and Log are required.
type Deps struct {
	Heartbeats  Heartbeats
	Catalog     Catalog
	Reshardings Reshardings
	Plans       Plans
	Repairs     Repairs
	Views       Views
	History     History
	Health      Health
	// Guard tells who may change what; nil refuses every change.
	Guard *Guard
	// Gate refuses requests while the process terminates; nil never does.
	Gate *httpx.Gate
	// StaleRouting is told of a producer whose routing was not the present one any more; nil
	// is not.
	StaleRouting func(stream, group string)
	// Tracing records requests as spans; nil records none.
	Tracing *tracing.Tracing
	// Log takes the access log and internal errors; nil discards them.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	c.BasePath = orDefault(c.BasePath, protocol.BasePath)
	c.MaxShards = orDefault(c.MaxShards, protocol.DefaultMaxShards)
	c.KeyPrefix = orDefault(c.KeyPrefix, protocol.DefaultKeyPrefix)
	c.Timing.HeartbeatInterval = orDefault(c.Timing.HeartbeatInterval, protocol.DefaultHeartbeatInterval)
	c.Timing.MemberLease = orDefault(c.Timing.MemberLease, protocol.DefaultMemberLease)
	c.Timing.RebalanceTimeout = orDefault(c.Timing.RebalanceTimeout, protocol.DefaultRebalanceTimeout)
	c.CallTimeout = orDefault(c.CallTimeout, 5*time.Second)
	c.MutationTimeout = orDefault(c.MutationTimeout, time.Minute)
	return c
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
