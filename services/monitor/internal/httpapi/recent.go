package httpapi

import (
	"context"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// recentTimeout bounds how long the view of a group waits for its last changes.
const recentTimeout = time.Second

// recent returns the last changes of a group, nil where they cannot be had: the rest of the
// view is worth seeing without them.
func (a *api) recent(ctx context.Context, stream, group string) *[]protocol.RecentMutation {
	if a.Mutations == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, recentTimeout)
	defer cancel()
	found, err := a.Mutations.Recent(ctx, stream, group)
	switch {
	case err != nil:
		a.Log.DebugContext(ctx, "the last changes of a group are not shown", "stream", stream, "group", group, "error", err)
		return nil
	case found == nil:
		return nil
	}
	return &found
}
