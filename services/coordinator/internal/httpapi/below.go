package httpapi

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The interfaces below are the layers that the API asks. Refusals come back as
// *protocol.Error, found in the chain; any other error is answered as INTERNAL_ERROR.
// Answers stay the property of the layer that gave them: nothing here changes one.

// Heartbeats decides about members. The request has passed every check that needs no
// state; stream and group are valid names, and req.MemberID is the one of the path.
type Heartbeats interface {
	Heartbeat(ctx context.Context, stream, group string, req *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, error)
}

// Catalog creates, deletes and lists streams and their groups.
type Catalog interface {
	CreateStream(ctx context.Context, stream string, req protocol.CreateStreamRequest) (protocol.StreamCreateResponse, error)
	CreateGroup(ctx context.Context, stream, group string, req protocol.CreateGroupRequest) (protocol.GroupResponse, error)
	DeleteStream(ctx context.Context, stream string, req protocol.DeleteRequest) (protocol.StreamResponse, error)
	DeleteGroup(ctx context.Context, stream, group string, req protocol.DeleteRequest) (protocol.GroupResponse, error)
	Stream(ctx context.Context, stream string) (protocol.StreamResponse, error)
	Streams(ctx context.Context) (protocol.StreamsResponse, error)
}

// Reshardings changes shard counts (protocol L1-L9). The group of a call is one of the
// stream's; which one makes no difference, as all groups share the reshardings of their
// stream. It is refused with GROUP_NOT_FOUND when the stream has no such group, an id
// that is not one of the stream's with MIGRATION_NOT_FOUND.
type Reshardings interface {
	// Scale begins a resharding. The target is there and within the limits.
	Scale(ctx context.Context, stream string, req protocol.ScaleRequest) (protocol.StreamScaleResponse, error)
	// Migration shows a resharding with its progress (L10).
	Migration(ctx context.Context, stream, group, id string) (protocol.Migration, error)
	// Rollback undoes a resharding (L8).
	Rollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (protocol.Migration, error)
	// ConfirmDrain takes an operator's word for a shard (L9). The index is there and not
	// negative.
	ConfirmDrain(ctx context.Context, stream, group, id string, req protocol.ConfirmDrainRequest) (protocol.Migration, error)
}

// Plans answers what a mutation would do; it changes nothing (protocol L11). The requests
// have passed the checks of the mutations themselves. A refusal that the mutation would
// get is part of the plan; an error means that there is none.
type Plans interface {
	PlanCreateStream(ctx context.Context, stream string, req protocol.CreateStreamRequest) (protocol.Plan, error)
	PlanCreateGroup(ctx context.Context, stream, group string, req protocol.CreateGroupRequest) (protocol.Plan, error)
	PlanDeleteStream(ctx context.Context, stream string, req protocol.DeleteRequest) (protocol.Plan, error)
	PlanDeleteGroup(ctx context.Context, stream, group string, req protocol.DeleteRequest) (protocol.Plan, error)
	PlanScale(ctx context.Context, stream string, req protocol.ScaleRequest) (protocol.Plan, error)
	PlanRollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (protocol.Plan, error)
}

// Repairs are interventions of operators.
type Repairs interface {
	// Barrier opens a correction round with its barrier, or closes the barrier (M2, M3).
	Barrier(ctx context.Context, stream, group string, req protocol.BarrierRequest) (protocol.GroupResponse, error)
	// Fence throws a member out of its group (H4).
	Fence(ctx context.Context, stream, group, member string, req protocol.FenceRequest) (protocol.GroupResponse, error)
	// RepairIndex builds the index of streams and groups anew.
	RepairIndex(ctx context.Context, req protocol.RepairIndexRequest) (protocol.RepairIndexResponse, error)
}

// Views shows groups without changing them.
type Views interface {
	Group(ctx context.Context, stream, group string) (protocol.GroupResponse, error)
	Groups(ctx context.Context) (protocol.GroupsResponse, error)
	Members(ctx context.Context, stream, group string) (protocol.MembersResponse, error)
	Assignments(ctx context.Context, stream, group string) (protocol.AssignmentsResponse, error)
	Migrations(ctx context.Context, stream, group string) (protocol.MigrationsResponse, error)
	Routing(ctx context.Context, stream, group string) (protocol.ProducerRouting, error)
	// Snapshots shows all groups at once, with what belongs to them.
	Snapshots(ctx context.Context) (protocol.GroupSnapshotsResponse, error)
}

// History reads the flight recorder of groups. after is the id of an event or empty,
// limit is 1 … protocol.MaxEvents.
type History interface {
	Events(ctx context.Context, stream, group, after string, limit int) (protocol.EventsResponse, error)
}

// Health tells how the process is doing. Ready returns why it should get no requests,
// nil when it should.
type Health interface {
	Health(ctx context.Context) protocol.HealthResponse
	Ready(ctx context.Context) error
}
