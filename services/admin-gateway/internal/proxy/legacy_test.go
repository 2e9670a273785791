package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
)

const retry = `{"responseTo":"q-1","status":"RETRY","memberId":"m-1","memberEpoch":7,"heartbeatIntervalMs":1000,"rebalanceTimeoutMs":60000,` +
	`"groupEpoch":0,"assignmentEpoch":0,"metadataVersion":0,"assignment":{"assignedShards":[],"pendingShards":[],"metadataVersion":0},"leaseMs":0}`

func requireRetry(t *testing.T, answer said) {
	t.Helper()
	require.Equal(t, 200, answer.status, answer.body)
	require.JSONEq(t, retry, answer.body)
	require.Equal(t, []string{"application/json"}, answer.header.Values("Content-Type"))
	require.Equal(t, []string{"no-store"}, answer.header.Values("Cache-Control"))
	require.NotEmpty(t, answer.header.Get("X-Request-Id"))
	require.Empty(t, answer.header.Get("Retry-After"))
}

// Wire contract, Rules: old clients give up for good on any error status.
func TestAnOldClientIsToldToComeAgain(t *testing.T) {
	t.Parallel()
	stuck, _ := hung(t)
	for name, urls := range map[string][]string{
		"store away":        {startUpstream(t, refuseWith(protocol.CodeStoreUnavailable)).URL},
		"terminating":       {startUpstream(t, refuseWith(protocol.CodeTerminating)).URL},
		"internal error":    {startUpstream(t, refuseWith(protocol.CodeInternal)).URL},
		"rate limit":        {startUpstream(t, refuseWith(protocol.CodeRateLimitExceeded)).URL},
		"metadata corrupt":  {startUpstream(t, refuseWith(protocol.CodeMetadataCorrupt)).URL},
		"no answer of ours": {startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }).URL},
		"token not taken":   {startUpstream(t, refuseWith(protocol.CodeUnauthorized)).URL},
		"redirect":          {startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(308) }).URL},
		"nobody there":      {free(t)},
		"hung":              {stuck.URL},
		"none configured":   nil,
	} {
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(urls...), LegacyRetry: true, Timeouts: proxy.Timeouts{Read: time.Second}}})
		t.Log(name)
		requireRetry(t, g.call(t, "POST", beat, oldBeat()))
	}
}

func TestAnOldClientIsToldToComeAgainByTheStagesBeforeToo(t *testing.T) {
	t.Parallel()
	for i, code := range []protocol.Code{
		protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeInvalidRequest,
		protocol.CodeOverloaded, protocol.CodeTerminating, protocol.CodeRateLimitExceeded, protocol.CodeInternal,
	} {
		refuse := func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				httpx.NewAnswers(nil).Error(w, r, protocol.Errorf(code, "before"))
			})
		}
		g := startGateway(t, setup{Config: proxy.Config{LegacyRetry: true}, wrap: refuse})
		answer := g.call(t, "POST", beat, oldBeat())
		if i >= 3 {
			requireRetry(t, answer)
			continue
		}
		require.Equal(t, protocol.FaultOf(code).Status, answer.status)
	}
}

// What no repeat can heal stays an error, and nobody else is answered so.
func TestOnlyPassingErrorsOfOldClientsAreHidden(t *testing.T) {
	t.Parallel()
	config := func(code protocol.Code, legacy bool) setup {
		return setup{Config: proxy.Config{Upstreams: coordinators(startUpstream(t, refuseWith(code)).URL), LegacyRetry: legacy}}
	}
	for _, code := range []protocol.Code{protocol.CodeInvalidRequest, protocol.CodeForbidden, protocol.CodeGroupNotFound, protocol.CodePayloadTooLarge} {
		require.Equal(t, protocol.FaultOf(code).Status, startGateway(t, config(code, true)).call(t, "POST", beat, oldBeat()).status)
	}
	away := startGateway(t, config(protocol.CodeStoreUnavailable, true))
	for name, body := range map[string]string{
		"new client": newBeat, "no JSON": "{", "no object": "[]", "epoch as text": `{"memberEpoch":"7"}`,
		"depth 10,000": `{"waitMs":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		"escaped name": strings.Replace(newBeat, `"incarnation"`, `"incarn\u0061tion"`, 1),
	} {
		require.Equal(t, 503, away.call(t, "POST", beat, body).status, name)
	}
	require.Equal(t, 503, away.call(t, "POST", group+"/heartbeats", oldBeat()).status)
	require.Equal(t, 503, away.call(t, "POST", scale, oldBeat()).status)
	require.Equal(t, 503, away.call(t, "GET", group+"/producer-routing", "").status)
	require.Equal(t, 503, startGateway(t, config(protocol.CodeStoreUnavailable, false)).call(t, "POST", beat, oldBeat()).status)
}

// An answer that came is passed on as it is, and the word incarnation in a value makes
// nobody new.
func TestAnAnswerForAnOldClientIsLeftAlone(t *testing.T) {
	t.Parallel()
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(startUpstream(t, nil).URL), LegacyRetry: true}})
	require.Equal(t, "{}", g.call(t, "POST", beat, oldBeat()).body)
	away := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(free(t)), LegacyRetry: true}})
	requireRetry(t, away.call(t, "POST", beat, strings.Replace(oldBeat(), `"ownedShards"`, `"memberName":"incarnation","x":{"incarnation":"y"},"ownedShards"`, 1)))
	leaving := away.call(t, "POST", beat, strings.Replace(oldBeat(), `"memberEpoch":7`, `"memberEpoch":-1`, 1))
	require.Contains(t, leaving.body, `"memberEpoch":-1`)
}
