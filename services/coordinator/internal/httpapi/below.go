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

// Views shows groups without changing them.
type Views interface {
	Group(ctx context.Context, stream, group string) (protocol.GroupResponse, error)
	Groups(ctx context.Context) (protocol.GroupsResponse, error)
	Members(ctx context.Context, stream, group string) (protocol.MembersResponse, error)
	Assignments(ctx context.Context, stream, group string) (protocol.AssignmentsResponse, error)
	Migrations(ctx context.Context, stream, group string) (protocol.MigrationsResponse, error)
	Routing(ctx context.Context, stream, group string) (protocol.ProducerRouting, error)
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
