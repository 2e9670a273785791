package httpapi

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// absent stands for the layers that a process does not have.
type absent struct{}

func errAbsent() error {
	return protocol.Errorf(protocol.CodeNotFound, "this coordinator does not do that")
}

func (absent) Scale(context.Context, string, protocol.ScaleRequest) (protocol.StreamScaleResponse, error) {
	return protocol.StreamScaleResponse{}, errAbsent()
}

func (absent) Migration(context.Context, string, string, string) (protocol.Migration, error) {
	return protocol.Migration{}, errAbsent()
}

func (absent) Rollback(context.Context, string, string, string, protocol.RollbackRequest) (protocol.Migration, error) {
	return protocol.Migration{}, errAbsent()
}

func (absent) ConfirmDrain(context.Context, string, string, string, protocol.ConfirmDrainRequest) (protocol.Migration, error) {
	return protocol.Migration{}, errAbsent()
}

func (absent) PlanCreateStream(context.Context, string, protocol.CreateStreamRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) PlanCreateGroup(context.Context, string, string, protocol.CreateGroupRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) PlanDeleteStream(context.Context, string, protocol.DeleteRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) PlanDeleteGroup(context.Context, string, string, protocol.DeleteRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) PlanScale(context.Context, string, protocol.ScaleRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) PlanRollback(context.Context, string, string, string, protocol.RollbackRequest) (protocol.Plan, error) {
	return protocol.Plan{}, errAbsent()
}

func (absent) Barrier(context.Context, string, string, protocol.BarrierRequest) (protocol.GroupResponse, error) {
	return protocol.GroupResponse{}, errAbsent()
}

func (absent) Fence(context.Context, string, string, string, protocol.FenceRequest) (protocol.GroupResponse, error) {
	return protocol.GroupResponse{}, errAbsent()
}

func (absent) RepairIndex(context.Context, protocol.RepairIndexRequest) (protocol.RepairIndexResponse, error) {
	return protocol.RepairIndexResponse{}, errAbsent()
}
