package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Admin administers streams and groups and reads their state. It repeats nothing by
// itself. Refusals are *protocol.Error with the coordinator's code; without an answer the
// error wraps ErrUnavailable, and a change may then have been made or not. Names are
// checked before anything is sent (protocol.ErrInvalidName).
type Admin struct{ api *api.Client }

// Admin returns the administration of c's coordinator. It is safe for use by several
// goroutines and needs no closing.
func (c *Client) Admin() *Admin { return &Admin{api: c.api.Traced(c.tracer)} }

// CreateStream creates a stream with its groups; without any it gets one that is named as
// the prefix, with '-' for ':'.
func (a *Admin) CreateStream(
	ctx context.Context, stream string, req protocol.CreateStreamRequest,
) (*protocol.StreamCreateResponse, error) {
	return a.api.CreateStream(ctx, stream, &req)
}

// Stream returns one stream with its groups and layout.
func (a *Admin) Stream(ctx context.Context, stream string) (*protocol.StreamResponse, error) {
	return a.api.Stream(ctx, stream)
}

// Streams lists all streams.
func (a *Admin) Streams(ctx context.Context) ([]protocol.StreamResponse, error) {
	answer, err := a.api.Streams(ctx)
	if err != nil {
		return nil, err
	}
	return answer.Streams, nil
}

// DeleteStream deletes a stream with its groups and returns what it was. It is refused
// with GROUP_HAS_ACTIVE_MEMBERS unless req.Force is set.
func (a *Admin) DeleteStream(
	ctx context.Context, stream string, req protocol.DeleteRequest,
) (*protocol.StreamResponse, error) {
	return a.api.DeleteStream(ctx, stream, &req)
}

// CreateGroup creates a group, and its stream if that is new.
func (a *Admin) CreateGroup(
	ctx context.Context, stream, group string, req protocol.CreateGroupRequest,
) (*protocol.GroupResponse, error) {
	return a.api.CreateGroup(ctx, stream, group, &req)
}

// Group returns one group at a glance.
func (a *Admin) Group(ctx context.Context, stream, group string) (*protocol.GroupResponse, error) {
	return a.api.Group(ctx, stream, group)
}

// Groups lists the groups of all streams.
func (a *Admin) Groups(ctx context.Context) ([]protocol.GroupResponse, error) {
	answer, err := a.api.Groups(ctx)
	if err != nil {
		return nil, err
	}
	return answer.Groups, nil
}

// DeleteGroup deletes a group and returns what it was. It is refused with
// GROUP_HAS_ACTIVE_MEMBERS unless req.Force is set.
func (a *Admin) DeleteGroup(
	ctx context.Context, stream, group string, req protocol.DeleteRequest,
) (*protocol.GroupResponse, error) {
	return a.api.DeleteGroup(ctx, stream, group, &req)
}

// Routing returns where producers write now.
func (a *Admin) Routing(ctx context.Context, stream, group string) (*protocol.ProducerRouting, error) {
	answer, err := a.api.Routing(ctx, stream, group, "")
	if err != nil {
		return nil, err
	}
	return answer.Routing, nil
}

// Members lists the members of a group.
func (a *Admin) Members(ctx context.Context, stream, group string) ([]protocol.MemberMetadata, error) {
	answer, err := a.api.Members(ctx, stream, group)
	if err != nil {
		return nil, err
	}
	return answer.Members, nil
}

// Assignments shows who should read and who may be reading the shards of a group.
func (a *Admin) Assignments(ctx context.Context, stream, group string) (*protocol.AssignmentsResponse, error) {
	return a.api.Assignments(ctx, stream, group)
}

// Migrations lists the reshardings of a group.
func (a *Admin) Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error) {
	return a.api.Migrations(ctx, stream, group)
}

// Events reads a page of a group's flight recorder, oldest first: why its structure
// changed, who caused it, and what became of each shard. It begins after the event whose
// id is after, "" begins with the oldest one kept; limit is 1 … protocol.MaxEvents, 0
// takes protocol.DefaultEvents. Next of the answer is the after of the next page, nil
// when there is none yet. It works for deleted groups and lost metadata, as long as the
// history is kept.
func (a *Admin) Events(ctx context.Context, stream, group, after string, limit int) (*protocol.EventsResponse, error) {
	return a.api.Events(ctx, stream, group, after, limit)
}

// Health returns the health of the coordinator that answers.
func (a *Admin) Health(ctx context.Context) (*protocol.HealthResponse, error) {
	return a.api.Health(ctx)
}

// Compatibility tells which protocols the coordinator speaks, and its timing values.
func (a *Admin) Compatibility(ctx context.Context) (*protocol.CompatibilityResponse, error) {
	return a.api.Compatibility(ctx)
}

// Version tells which build answers.
func (a *Admin) Version(ctx context.Context) (*protocol.VersionResponse, error) {
	return a.api.Version(ctx)
}
