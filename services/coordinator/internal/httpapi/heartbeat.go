package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Largest bodies, in bytes (wire contract).
const (
	maxHeartbeatBody = 256 << 10
	maxAdminBody     = 64 << 10
)

// bodies holds the decoders of all request bodies.
type bodies struct {
	heartbeat    *httpx.Decoder[protocol.HeartbeatRequest]
	createStream *httpx.Decoder[protocol.CreateStreamRequest]
	createGroup  *httpx.Decoder[protocol.CreateGroupRequest]
	delete       *httpx.Decoder[protocol.DeleteRequest]
}

func newBodies() bodies {
	return bodies{
		// The contract lets reports leave these two out; they are 0 then.
		heartbeat:    httpx.NewDecoder[protocol.HeartbeatRequest]("inFlight", "pendingCount"),
		createStream: httpx.NewDecoder[protocol.CreateStreamRequest](),
		createGroup:  httpx.NewDecoder[protocol.CreateGroupRequest](),
		delete:       httpx.NewDecoder[protocol.DeleteRequest](),
	}
}

func (a *api) heartbeat(ctx context.Context, w http.ResponseWriter, r *http.Request) (answer, error) {
	stream, group, err := a.groupOf(r)
	if err != nil {
		return answer{}, err
	}
	member, err := memberOf(r)
	if err != nil {
		return answer{}, err
	}
	body, err := httpx.ReadBody(w, r, maxHeartbeatBody)
	if err != nil {
		return answer{}, err
	}
	request, err := a.readHeartbeat(body, member)
	if err != nil {
		return answer{}, err
	}
	decision, err := a.Heartbeats.Heartbeat(ctx, stream, group, request)
	if err != nil {
		return answer{}, err
	}
	if decision == nil {
		return answer{}, fmt.Errorf("heartbeat of %s in %s: the layer below gave neither answer nor error", member, group)
	}
	return answer{http.StatusOK, completeHeartbeat(*decision)}, nil
}

// readHeartbeat decodes and checks the body of a heartbeat of the path's member.
func (a *api) readHeartbeat(body []byte, member string) (*protocol.HeartbeatRequest, error) {
	request, err := a.bodies.heartbeat.Decode(body)
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
