package httpapi_test

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (l *layer) Scale(ctx context.Context, stream string, req protocol.ScaleRequest) (protocol.StreamScaleResponse, error) {
	l.keep(req)
	return l.scaled, l.note(ctx, "Scale %s", stream)
}

func (l *layer) Migration(ctx context.Context, stream, group, id string) (protocol.Migration, error) {
	return l.migration, l.note(ctx, "Migration %s %s %s", stream, group, id)
}

func (l *layer) Rollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (protocol.Migration, error) {
	l.keep(req)
	return l.migration, l.note(ctx, "Rollback %s %s %s", stream, group, id)
}

func (l *layer) ConfirmDrain(ctx context.Context, stream, group, id string, req protocol.ConfirmDrainRequest) (protocol.Migration, error) {
	l.keep(req)
	return l.migration, l.note(ctx, "ConfirmDrain %s %s %s", stream, group, id)
}

func (l *layer) PlanCreateStream(ctx context.Context, stream string, req protocol.CreateStreamRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanCreateStream %s", stream)
}

func (l *layer) PlanCreateGroup(ctx context.Context, stream, group string, req protocol.CreateGroupRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanCreateGroup %s %s", stream, group)
}

func (l *layer) PlanDeleteStream(ctx context.Context, stream string, req protocol.DeleteRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanDeleteStream %s", stream)
}

func (l *layer) PlanDeleteGroup(ctx context.Context, stream, group string, req protocol.DeleteRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanDeleteGroup %s %s", stream, group)
}

func (l *layer) PlanScale(ctx context.Context, stream string, req protocol.ScaleRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanScale %s", stream)
}

func (l *layer) PlanRollback(ctx context.Context, stream, group, id string, req protocol.RollbackRequest) (protocol.Plan, error) {
	l.keep(req)
	return l.plan, l.note(ctx, "PlanRollback %s %s %s", stream, group, id)
}

func (l *layer) Barrier(ctx context.Context, stream, group string, req protocol.BarrierRequest) (protocol.GroupResponse, error) {
	l.keep(req)
	return l.group, l.note(ctx, "Barrier %s %s", stream, group)
}

func (l *layer) Fence(ctx context.Context, stream, group, member string, req protocol.FenceRequest) (protocol.GroupResponse, error) {
	l.keep(req)
	return l.group, l.note(ctx, "Fence %s %s %s", stream, group, member)
}

func (l *layer) RepairIndex(ctx context.Context, req protocol.RepairIndexRequest) (protocol.RepairIndexResponse, error) {
	l.keep(req)
	return l.index, l.note(ctx, "RepairIndex")
}
