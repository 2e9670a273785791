package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (a *api) barrier() http.HandlerFunc {
	return mutation(a, change[protocol.BarrierRequest, protocol.GroupResponse]{
		check:  func(req protocol.BarrierRequest) error { return checkCause(req.RequestedBy, req.Reason) },
		do:     ofGroup(a.Repairs.Barrier),
		status: http.StatusAccepted, complete: completeGroup,
	})
}

func (a *api) fence() http.HandlerFunc {
	return mutation(a, change[protocol.FenceRequest, protocol.GroupResponse]{
		check: func(req protocol.FenceRequest) error { return checkCause(req.RequestedBy, req.Reason) },
		do: func(ctx context.Context, at place, req protocol.FenceRequest) (protocol.GroupResponse, error) {
			return a.Repairs.Fence(ctx, at.stream, at.group, at.member, req)
		},
		status: http.StatusAccepted, complete: completeGroup,
	})
}

func (a *api) repairIndex() http.HandlerFunc {
	return mutation(a, change[protocol.RepairIndexRequest, protocol.RepairIndexResponse]{
		check: func(req protocol.RepairIndexRequest) error { return checkCause(req.RequestedBy, req.Reason) },
		do: func(ctx context.Context, _ place, req protocol.RepairIndexRequest) (protocol.RepairIndexResponse, error) {
			return a.Repairs.RepairIndex(ctx, req)
		},
		status: http.StatusOK, complete: completeRepairedIndex,
	})
}
