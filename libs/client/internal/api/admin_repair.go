package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Barrier starts a correction round of a group, or ends its barrier.
func (c *Client) Barrier(
	ctx context.Context, stream, group string, req *protocol.BarrierRequest,
) (*protocol.GroupResponse, error) {
	ref := groupRef{c.base, stream, group, "/barrier"}
	return onGroup[protocol.GroupResponse](ctx, c, http.MethodPost, ref, req)
}

// Fence throws a member out of its group.
func (c *Client) Fence(
	ctx context.Context, stream, group, member string, req *protocol.FenceRequest,
) (*protocol.GroupResponse, error) {
	if err := protocol.CheckMemberID(member); err != nil {
		return nil, err
	}
	ref := groupRef{c.base, stream, group, "/members/" + url.PathEscape(member) + "/fence"}
	return onGroup[protocol.GroupResponse](ctx, c, http.MethodPost, ref, req)
}

// RepairIndex builds the index of groups anew.
func (c *Client) RepairIndex(
	ctx context.Context, req *protocol.RepairIndexRequest,
) (*protocol.RepairIndexResponse, error) {
	return roundTrip[protocol.RepairIndexResponse](ctx, c, http.MethodPost, c.base+"/admin/repair-index", req)
}
