package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxHeartbeatBody is the largest body of a heartbeat, in bytes (wire contract).
const maxHeartbeatBody = 256 << 10

// heartbeatBody reads heartbeats; the contract lets reports leave these two out, they are
// 0 then.
func heartbeatBody() *httpx.Decoder[protocol.HeartbeatRequest] {
	return httpx.NewDecoder[protocol.HeartbeatRequest]("inFlight", "pendingCount")
}

func (a *api) heartbeat(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return answer{}, err
	}
	body, err := httpx.ReadBody(w, r, maxHeartbeatBody)
	if err != nil {
		return answer{}, err
	}
	request, err := a.readHeartbeat(body, at.member)
	if err != nil {
		return answer{}, err
	}
	decision, err := a.Heartbeats.Heartbeat(ctx, at.stream, at.group, request)
	if err != nil {
		return answer{}, err
	}
	if decision == nil {
		return answer{}, fmt.Errorf("heartbeat of %s in %s: the layer below gave neither answer nor error", at.member, at.group)
	}
	return answer{http.StatusOK, completeHeartbeat(*decision)}, nil
}

// readHeartbeat decodes and checks the body of a heartbeat of the path's member.
func (a *api) readHeartbeat(body []byte, member string) (*protocol.HeartbeatRequest, error) {
	request, err := a.heartbeats.Decode(body)
	if err != nil {
		return nil, err
	}
	if request.MemberID != member {
		return nil, invalid("memberId %q is not the one of the path", protocol.Echo(request.MemberID))
	}
	if err := checkHeartbeat(&request, a.MaxShards); err != nil {
		return nil, err
	}
	return &request, nil
}
