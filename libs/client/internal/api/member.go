package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Heartbeat reports for one member and returns the coordinator's decision. The request's
// id is sent as X-Request-Id too. The caller bounds the time with ctx, as only it knows
// how long the answer may be held back (A5).
func (c *Client) Heartbeat(
	ctx context.Context, stream, group string, req *protocol.HeartbeatRequest,
) (*protocol.HeartbeatResponse, error) {
	if err := protocol.CheckMemberID(req.MemberID); err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	path, err := groupPath(c.base, stream, group, "/members/"+url.PathEscape(req.MemberID)+"/heartbeat")
	if err != nil {
		return nil, fmt.Errorf("heartbeat: %w", err)
	}
	var answer protocol.HeartbeatResponse
	_, err = c.do(ctx, call{method: http.MethodPost, url: path, body: req, id: req.RequestID}, &answer)
	if err != nil {
		return nil, fmt.Errorf("heartbeat of %s: %w", req.MemberID, err)
	}
	if answer.Status == "" || answer.MemberID != req.MemberID {
		return nil, fmt.Errorf("heartbeat of %s: %w: the answer is not for this member", req.MemberID, ErrUnavailable)
	}
	return &answer, nil
}
