package api

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// dryRun asks for the plan of a mutation instead of the mutation (L11).
const dryRun = "?dryRun=true"

// PlanCreateStream tells what the creation of a stream would do.
func (c *Client) PlanCreateStream(
	ctx context.Context, stream string, req *protocol.CreateStreamRequest,
) (*protocol.Plan, error) {
	return onStream[protocol.Plan](ctx, c, http.MethodPost, streamRef{stream, dryRun}, req)
}

// PlanDeleteStream tells what the deletion of a stream would do.
func (c *Client) PlanDeleteStream(
	ctx context.Context, stream string, req *protocol.DeleteRequest,
) (*protocol.Plan, error) {
	return onStream[protocol.Plan](ctx, c, http.MethodDelete, streamRef{stream, dryRun}, req)
}

// PlanScale tells what a change of a stream's shard count would do.
func (c *Client) PlanScale(ctx context.Context, stream string, req *protocol.ScaleRequest) (*protocol.Plan, error) {
	return onStream[protocol.Plan](ctx, c, http.MethodPost, streamRef{stream, scaleSuffix + dryRun}, req)
}

// PlanCreateGroup tells what the creation of a group would do.
func (c *Client) PlanCreateGroup(
	ctx context.Context, stream, group string, req *protocol.CreateGroupRequest,
) (*protocol.Plan, error) {
	return onGroup[protocol.Plan](ctx, c, http.MethodPost, groupRef{c.base, stream, group, dryRun}, req)
}

// PlanDeleteGroup tells what the deletion of a group would do.
func (c *Client) PlanDeleteGroup(
	ctx context.Context, stream, group string, req *protocol.DeleteRequest,
) (*protocol.Plan, error) {
	return onGroup[protocol.Plan](ctx, c, http.MethodDelete, groupRef{c.base, stream, group, dryRun}, req)
}

// PlanRollback tells what undoing a resharding would do.
func (c *Client) PlanRollback(
	ctx context.Context, stream, group, id string, req *protocol.RollbackRequest,
) (*protocol.Plan, error) {
	return onMigration[protocol.Plan](ctx, c, http.MethodPost,
		migrationRef{stream, group, id, rollbackSuffix + dryRun}, req)
}
