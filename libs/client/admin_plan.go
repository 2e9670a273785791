package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// PlanScale tells what Scale with the same request would do, and changes nothing (L11).
// As all plans it holds for the state at the time of asking: a refusal that the mutation
// would meet is in the plan's Refusal and not an error.
func (a *Admin) PlanScale(ctx context.Context, stream string, req protocol.ScaleRequest) (*protocol.Plan, error) {
	return a.api.PlanScale(ctx, stream, &req)
}

// PlanRollback tells what Rollback would do, and changes nothing; see PlanScale.
func (a *Admin) PlanRollback(
	ctx context.Context, stream, group, id string, req protocol.RollbackRequest,
) (*protocol.Plan, error) {
	return a.api.PlanRollback(ctx, stream, group, id, &req)
}

// PlanCreateStream tells what CreateStream would do, and changes nothing; see PlanScale.
func (a *Admin) PlanCreateStream(
	ctx context.Context, stream string, req protocol.CreateStreamRequest,
) (*protocol.Plan, error) {
	return a.api.PlanCreateStream(ctx, stream, &req)
}

// PlanCreateGroup tells what CreateGroup would do, and changes nothing; see PlanScale.
func (a *Admin) PlanCreateGroup(
	ctx context.Context, stream, group string, req protocol.CreateGroupRequest,
) (*protocol.Plan, error) {
	return a.api.PlanCreateGroup(ctx, stream, group, &req)
}

// PlanDeleteStream tells what DeleteStream would do, and changes nothing; see PlanScale.
func (a *Admin) PlanDeleteStream(
	ctx context.Context, stream string, req protocol.DeleteRequest,
) (*protocol.Plan, error) {
	return a.api.PlanDeleteStream(ctx, stream, &req)
}

// PlanDeleteGroup tells what DeleteGroup would do, and changes nothing; see PlanScale.
func (a *Admin) PlanDeleteGroup(
	ctx context.Context, stream, group string, req protocol.DeleteRequest,
) (*protocol.Plan, error) {
	return a.api.PlanDeleteGroup(ctx, stream, group, &req)
}
