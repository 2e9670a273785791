package catalog

import (
	"context"
	"errors"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Barrier opens a correction round with its barrier on a group, as evidence of lost writes
// would (M2), or closes the barrier that is up. Errors as of Group; INVALID_REQUEST when
// there is no barrier to be closed.
func (c *Catalog) Barrier(ctx context.Context, prefix, name string, req protocol.BarrierRequest) (protocol.GroupResponse, error) {
	kind, action := group.OrderBarrier, protocol.ActionBarrier
	if req.Close {
		kind, action = group.OrderUnbar, protocol.ActionUnbar
	}
	by := orderOf(ctx, action, req.RequestedBy, &req.Reason)
	return c.order(ctx, prefix, name, group.Order{Kind: kind, RequestID: by.RequestID}, by)
}

// Fence throws a member out of its group; what it may be reading blocks until its lease
// has run out (H4). Errors as of Group; NOT_FOUND when the member is not live.
func (c *Catalog) Fence(ctx context.Context, prefix, name, member string, req protocol.FenceRequest) (protocol.GroupResponse, error) {
	by := orderOf(ctx, protocol.ActionFence, req.RequestedBy, &req.Reason)
	return c.order(ctx, prefix, name, group.Order{Kind: group.OrderFence, Member: member, RequestID: by.RequestID}, by)
}

func (c *Catalog) order(ctx context.Context, prefix, name string, order group.Order, by recorder.Order) (protocol.GroupResponse, error) {
	if _, err := c.source(ctx, prefix, name); err != nil {
		return protocol.GroupResponse{}, err
	}
	_, err := c.groups.Order(ctx, store.Key{Stream: prefix, Group: name}, order, by)
	switch {
	case errors.Is(err, group.ErrNotLive):
		return protocol.GroupResponse{}, protocol.Errorf(protocol.CodeNotFound,
			"group %q of stream %q has no live member %q", name, prefix, protocol.Echo(order.Member)).Because(err)
	case errors.Is(err, group.ErrNoBarrier):
		return protocol.GroupResponse{}, protocol.Errorf(protocol.CodeInvalidRequest,
			"group %q of stream %q has no barrier to be closed", name, prefix).Because(err)
	case err != nil:
		return protocol.GroupResponse{}, loop.Fault(err)
	}
	return c.Group(ctx, prefix, name)
}

// RepairIndex makes the index of groups name exactly the records that are there. It walks
// all keys of the store.
func (c *Catalog) RepairIndex(ctx context.Context, _ protocol.RepairIndexRequest) (protocol.RepairIndexResponse, error) {
	response := protocol.RepairIndexResponse{Added: []string{}, Removed: []string{}}
	done, err := c.store.RepairIndex(ctx)
	if err != nil {
		return response, loop.Fault(err)
	}
	for _, key := range done.Added {
		response.Added = append(response.Added, strings.TrimSuffix(key.String(), ":"))
	}
	response.Removed = append(response.Removed, done.Removed...)
	c.log.Warn("the index of groups was built anew", "added", response.Added, "removed", response.Removed)
	return response, nil
}
