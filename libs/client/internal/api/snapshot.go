package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxSnapshotBytes is what is read of an answer that has everything: a member is some
// hundred bytes, with its shards some kilobytes.
const maxSnapshotBytes = 256 << 20

// GroupSnapshots asks for all groups with what belongs to them. The answer is nil where
// it is still that of etag. The tag goes with the next request.
func (c *Client) GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error) {
	var found protocol.GroupSnapshotsResponse
	ask := call{method: http.MethodGet, url: c.base + "/internal/groups", etag: etag, most: maxSnapshotBytes}
	got, err := c.do(ctx, ask, &found)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("snapshots of all groups: %w", err)
	case got.status == http.StatusNotModified:
		return nil, etag, nil
	}
	return &found, got.etag, nil
}
