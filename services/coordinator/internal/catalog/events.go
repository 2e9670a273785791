package catalog

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Events reads up to limit events, 1 … protocol.MaxEvents, of a group's flight recorder
// after the cursor, oldest first; an empty cursor begins with the oldest one kept. It
// needs no record of the group: the events of one that was deleted, is gone or cannot be
// read are there as long as they are kept, which is when they are asked for. Only
// without any it fails: METADATA_MISSING when the stream's record names the group (M6),
// else GROUP_NOT_FOUND. INVALID_REQUEST for what is no cursor.
func (c *Catalog) Events(ctx context.Context, prefix, name, after string, limit int) (protocol.EventsResponse, error) {
	page := protocol.EventsResponse{Events: []protocol.GroupEvent{}}
	found, err := c.store.History(ctx, store.Key{Stream: prefix, Group: name}, after, limit+1)
	switch {
	case errors.Is(err, store.ErrNotFound):
		_, streamFound, loadErr := c.records.Load(ctx, prefix)
		if loadErr != nil {
			return page, loadErr
		}
		return page, c.absent(ctx, prefix, name, streamFound)
	case errors.Is(err, store.ErrInvalid):
		return page, protocol.Errorf(protocol.CodeInvalidRequest, "after must be the id of an event, not %q", protocol.Echo(after)).Because(err)
	case err != nil:
		return page, loop.Fault(err)
	}
	for _, event := range found[:min(limit, len(found))] {
		page.Events = append(page.Events, recorder.Decode(event.Data, event.ID, int64(event.At)))
	}
	if len(found) > limit {
		page.Next = &found[limit-1].ID
	}
	return page, nil
}

// orderOf is what an operator asks for with the request that ctx belongs to.
func orderOf(ctx context.Context, action protocol.EventAction, actor string, reason *string) recorder.Order {
	order := recorder.Order{Action: action, Actor: actor, RequestID: httpx.RequestID(ctx)}
	if reason != nil {
		order.Reason = *reason
	}
	return order
}
