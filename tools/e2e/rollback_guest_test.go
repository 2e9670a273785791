package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// guest is a member that joins and leaves and reads nothing, so that the group has
// something to commit.
type guest struct {
	suite    *suite
	request  protocol.HeartbeatRequest
	received int // shards in the last answer
}

func (s *suite) guest(number int) *guest {
	return &guest{suite: s, request: protocol.HeartbeatRequest{
		ProtocolVersion: 1, MemberID: fmt.Sprintf("guest-%d", number), Incarnation: fmt.Sprintf("01J%023d", number),
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}}
}

// beat sends a heartbeat and follows the answer.
func (g *guest) beat() {
	s := g.suite
	s.t.Helper()
	g.request.Sequence++
	g.request.RequestID = fmt.Sprintf("%s-%d", g.request.MemberID, g.request.Sequence)
	body, err := json.Marshal(g.request)
	require.NoError(s.t, err)
	path, err := url.JoinPath(s.url(), protocol.BasePath, "streams", stream, "groups", group,
		"members", g.request.MemberID, "heartbeat")
	require.NoError(s.t, err)
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	require.Equal(s.t, http.StatusOK, response.StatusCode)
	var answer protocol.HeartbeatResponse
	require.NoError(s.t, json.NewDecoder(response.Body).Decode(&answer))
	g.request.MemberEpoch, g.request.MetadataVersion, g.request.Lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	g.request.OwnedShards, g.received = answer.Assignment.AssignedShards, len(answer.Assignment.AssignedShards)
}

// visit joins, waits for shards if it is to stay, and leaves.
func (g *guest) visit(stay bool) {
	g.suite.t.Helper()
	g.beat()
	if stay {
		g.suite.eventually(func() bool {
			g.beat()
			return g.received > 0
		}, "a guest is given a shard")
	}
	g.request.MemberEpoch, g.request.OwnedShards = protocol.EpochLeave, nil
	g.beat()
}
