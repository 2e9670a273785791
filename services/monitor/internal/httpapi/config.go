package httpapi

import (
	"context"
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// Config is what the API needs to know. A zero field takes its default.
type Config struct {
	// BasePath is the prefix of all paths but /healthz, /readyz and /version
	// (protocol.BasePath). It begins with a slash; "/" serves the API at the root.
	BasePath string
	// KeyPrefix is the prefix of the suite's own Redis keys, with which no stream prefix may
	// begin (protocol.DefaultKeyPrefix).
	KeyPrefix string
	// Build is what /version reports.
	Build protocol.VersionResponse
	// Process is what the gateway is told of this monitor and its settings.
	Process protocol.SystemProcess
	// CallTimeout bounds an answer (8 s). Past it the answer is 503 STORE_UNAVAILABLE.
	CallTimeout time.Duration
	// Heartbeat is how often a stream without news shows that it is alive (15 s).
	Heartbeat time.Duration
	// StreamLife is how long a stream lasts (10 min). Whoever listens comes back then, and is
	// asked for a credential again.
	StreamLife time.Duration
}

// Look is what is known: a round of observation and what follows from it and those before.
// It is shared and not changed.
type Look struct {
	Round    facts.Round
	Snapshot rates.Snapshot
}

// Source gives the newest look, and false before there is one. It does not wait.
type Source interface {
	Look() (Look, bool)
}

// Coordinator tells of groups that were made since the last round. Refusals are
// *protocol.Error, GROUP_NOT_FOUND for a group that is not there. The SDK's Admin is one.
type Coordinator interface {
	Group(ctx context.Context, stream, group string) (*protocol.GroupResponse, error)
	Members(ctx context.Context, stream, group string) ([]protocol.MemberMetadata, error)
	Assignments(ctx context.Context, stream, group string) (*protocol.AssignmentsResponse, error)
	Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error)
}

// Mutations reads what was changed last in a group, newest first; nil where the audit is not
// kept where it looks.
type Mutations interface {
	Recent(ctx context.Context, stream, group string) ([]protocol.RecentMutation, error)
}

// Health returns why the process should get no requests, nil when it should.
type Health interface {
	Ready(ctx context.Context) error
}

// Deps are the parts that the API stands on. All but Coordinator, Mutations,
// Gate, Tracing and Log are required.
type Deps struct {
	Source   Source
	Messages Messages
	Feed     *Feed
	Health   Health
	// Coordinator is asked for groups that were not observed yet; nil lets them not be there.
	Coordinator Coordinator
	// Mutations is asked for the last changes of a group that is looked at; nil knows none.
	Mutations Mutations
	// Guard tells who may ask; nil refuses everybody.
	Guard *Guard
	// Gate refuses requests while the process terminates; nil never does.
	Gate *httpx.Gate
	// Tracing records requests as spans; nil records none.
	Tracing *tracing.Tracing
	// Log takes the access log and internal errors; nil discards them.
	Log *slog.Logger
}

func (c Config) withDefaults() Config {
	c.BasePath = orDefault(c.BasePath, protocol.BasePath)
	c.KeyPrefix = orDefault(c.KeyPrefix, protocol.DefaultKeyPrefix)
	c.CallTimeout = orDefault(c.CallTimeout, 8*time.Second)
	c.Heartbeat = orDefault(c.Heartbeat, 15*time.Second)
	c.StreamLife = orDefault(c.StreamLife, 10*time.Minute)
	return c
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
