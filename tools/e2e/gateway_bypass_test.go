package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// gateway, Authentication: the coordinator accepts mutations only with a token that the
// gateway has made for this request, so bypassing the gateway bypasses nothing.
func TestGatewayBypassedBypassesNothing(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1,
		coordinatorFlags: []string{"--api-authenticate-member-api"}, gatewayFlags: []string{"--api-authenticate-member-api"},
	})
	behind := g.coordinators[0]
	ops, viewer, worker := g.login(userOps), g.login(userViewer), g.login(userMember)

	for name, token := range map[string]string{
		"no token": "", "a login token of a writer": ops, "one of a reader": viewer, "one of a member": worker,
		"one for the coordinator with another secret": forged(t, auth.AudienceCoordinator),
		"no token at all": "canary",
	} {
		step(t, name, func() {
			got := g.refusedAt(behind, createStream(token, stream), http.StatusUnauthorized, protocol.CodeUnauthorized)
			require.NotEmpty(t, got.header.Get("WWW-Authenticate"))
		})
	}
	headers := createStream("", stream)
	headers.header = map[string]string{"X-Principal": userOps, "X-Roles": "WRITE", "X-Forwarded-User": userOps, "X-Remote-User": userOps}
	g.refusedAt(behind, headers, http.StatusUnauthorized, protocol.CodeUnauthorized)
	g.refused(guardedCall{path: api("/streams/" + stream), token: ops}, http.StatusNotFound, protocol.CodeStreamNotFound)
	g.passes(createStream(ops, stream), http.StatusCreated)

	beat := guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + group + "/members/m1/heartbeat"), body: firstBeat(t, "m1"),
	}
	for token, want := range map[string]struct{ behind, door int }{
		"":                             {http.StatusUnauthorized, http.StatusUnauthorized},
		forged(t, auth.AudienceMember): {http.StatusUnauthorized, http.StatusUnauthorized},
		viewer:                         {http.StatusUnauthorized, http.StatusForbidden}, // its audience has no member
		ops:                            {http.StatusUnauthorized, http.StatusForbidden},
		worker:                         {http.StatusOK, http.StatusOK},
		forged(t, auth.AudienceAPI):    {http.StatusUnauthorized, http.StatusUnauthorized},
	} {
		beat.token = token
		require.Equal(t, want.behind, g.askAt(behind, beat).status)
		require.Equal(t, want.door, g.ask(beat).status)
	}
	routing := guardedCall{path: api("/streams/" + stream + "/groups/" + group + "/producer-routing")}
	g.refusedAt(behind, routing, http.StatusUnauthorized, protocol.CodeUnauthorized)
	routing.token = worker
	require.Equal(t, http.StatusOK, g.askAt(behind, routing).status)
}

// forged returns a token that is right in everything but its key.
func forged(t *testing.T, audience string) string {
	t.Helper()
	key, err := auth.KeyFromSecret("another secret of thirty-two bytes or more")
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	token, err := ring.Sign(auth.Claims{
		ID: "j-1", Subject: userOps, Audience: []string{audience}, Roles: auth.Read | auth.Write | auth.Member,
		IssuedAt: time.Now().Add(-time.Second), ExpiresAt: time.Now().Add(time.Minute),
	})
	require.NoError(t, err)
	return token
}

// firstBeat is the body with which a member joins.
func firstBeat(t *testing.T, member string) string {
	t.Helper()
	body, err := json.Marshal(protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: "r-1", MemberID: member, MemberEpoch: protocol.EpochJoin,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
		OwnedShards:             []protocol.ShardID{}, RevokingShards: []protocol.RevokingShard{}, ShardProgress: []protocol.ShardProgress{},
	})
	require.NoError(t, err)
	return string(body)
}
