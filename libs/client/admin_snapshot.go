package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// GroupSnapshots returns all groups with their members, assignments and reshardings in one
// answer, for those who watch everything. Only a coordinator answers it; the gateway does
// not pass it on. The answer is nil where nothing has changed since the one that came with
// etag; the tag returned goes with the next call.
func (a *Admin) GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error) {
	return a.api.GroupSnapshots(ctx, etag)
}
