package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Barrier starts a correction round of a group, in which nothing is granted and nobody
// expires for one member lease (M2, M3). It belongs before and after metadata is put back
// by hand. With req.Close it ends the barrier that is up, which is safe only when no
// member of a lost history can still be reading. BarrierUntil of the answer is its end.
func (a *Admin) Barrier(
	ctx context.Context, stream, group string, req protocol.BarrierRequest,
) (*protocol.GroupResponse, error) {
	return a.api.Barrier(ctx, stream, group, &req)
}

// Fence throws a member out of its group. The shards that it may still be reading are
// granted to nobody until its lease has run out (H4). The member may join again.
func (a *Admin) Fence(
	ctx context.Context, stream, group, member string, req protocol.FenceRequest,
) (*protocol.GroupResponse, error) {
	return a.api.Fence(ctx, stream, group, member, &req)
}

// RepairIndex builds the index of groups anew from the records that are there, and tells
// what was missing in it and what it named in vain. No group is changed.
func (a *Admin) RepairIndex(
	ctx context.Context, req protocol.RepairIndexRequest,
) (*protocol.RepairIndexResponse, error) {
	return a.api.RepairIndex(ctx, &req)
}
