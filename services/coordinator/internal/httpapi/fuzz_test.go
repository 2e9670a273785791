package httpapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// fuzzed is a handler over a layer that forgets between requests.
type fuzzed struct {
	below   *layer
	handler http.Handler
}

func newFuzzed() fuzzed {
	below := newLayer()
	return fuzzed{below, httpapi.New(httpapi.Config{MaxShards: maxShards}, below.deps())}
}

// ask sends one request through the handler alone, and requires a known answer.
func (f fuzzed) ask(t *testing.T, request *http.Request) int {
	t.Helper()
	f.below.forget()
	answer := httptest.NewRecorder()
	f.handler.ServeHTTP(answer, request)
	require.Less(t, answer.Code, 500, answer.Body.String())
	if answer.Code >= 400 {
		var refusal protocol.ErrorResponse
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &refusal))
		require.Equal(t, answer.Code, protocol.FaultOf(refusal.ErrorCode).Status)
		require.Empty(t, f.below.seen(), "what is refused reaches nobody")
	}
	return answer.Code
}

// post sends a body, taken to be JSON.
func (f fuzzed) post(t *testing.T, target string, body []byte) int {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	return f.ask(t, request)
}

// FuzzHeartbeat holds that whatever body reaches the group protocol keeps the rules that
// the protocol builds on (R5), and is taken again when it is written anew.
func FuzzHeartbeat(f *testing.F) {
	for _, seed := range []string{
		goodBeat, with(goodBeat, `"ownedShards":[{"shardIndex":1},{"shardIndex":0}]`),
		with(goodBeat, `"revokingShards":[`+revoking(1, "DRAINING", 3)+`]`), with(goodBeat, progress(`,"lastAckedId":"1-1"`)),
		with(goodBeat, `"incarnation":"i","sequence":1,"lineage":"L","waitMs":5,"memberName":null`),
		with(goodBeat, `"MemberEpoch":7,"x":[[{}]],"y":"\ud83d\ude00"`), "{}", "null", "[]", "\ufeff{}",
		strings.Replace(goodBeat, ":0", ":-2", 1), strings.Replace(goodBeat, ":0", ":1e400", 1),
		with(goodBeat, `"ownedShards":[{"shardIndex":1}],"revokingShards":[`+revoking(1, "REVOKED", 0)+`]`),
	} {
		f.Add([]byte(seed))
	}
	api := newFuzzed()
	f.Fuzz(func(t *testing.T, body []byte) {
		if api.post(t, beat, body) != http.StatusOK {
			return
		}
		requireSound(t, api.below.heard)
		written, err := json.Marshal(api.below.heard)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, api.post(t, beat, written), "%s", written)
	})
}

func requireSound(t *testing.T, heard *protocol.HeartbeatRequest) {
	t.Helper()
	require.Equal(t, "m-1", heard.MemberID)
	require.NotEmpty(t, strings.TrimSpace(heard.RequestID))
	require.Positive(t, heard.ProtocolVersion)
	require.GreaterOrEqual(t, heard.MemberEpoch, protocol.EpochSuspend)
	require.GreaterOrEqual(t, heard.MetadataVersion, int64(0))
	require.Positive(t, heard.RuntimeConsumerCapacity.RuntimeMaxConcurrency)
	require.LessOrEqual(t, heard.RuntimeConsumerCapacity.AvailableConcurrency, heard.RuntimeConsumerCapacity.RuntimeMaxConcurrency)
	seen := map[int]bool{}
	count := func(index int) {
		require.GreaterOrEqual(t, index, 0)
		require.False(t, seen[index], "shard %d twice", index)
		seen[index] = true
	}
	for _, shard := range heard.OwnedShards {
		count(shard.ShardIndex)
	}
	for _, release := range heard.RevokingShards {
		count(release.Shard.ShardIndex)
		require.GreaterOrEqual(t, release.InFlight, 0)
	}
	require.LessOrEqual(t, len(seen), 2*maxShards)
	require.True(t, heard.Incarnation == "" || heard.Sequence > 0)
}

// FuzzScale holds that whatever body and query reach a layer, the request is within the
// limits, and that nothing is scaled but by a query that asks for it.
func FuzzScale(f *testing.F) {
	good := mutations()["scale stream"].body
	for _, body := range []string{good, "{}", with(good, `"deprecatedAfter":"P1D"`), strings.Replace(good, ":3", ":-0", 1), strings.Replace(good, "done", `\n`, 1)} {
		for _, query := range []string{"", "dryRun=true", "dryRun=false", "dryrun=true", "dryRun", "x=%zz", "dryRun=true;x"} {
			f.Add([]byte(body), query)
		}
	}
	api := newFuzzed()
	f.Fuzz(func(t *testing.T, body []byte, query string) {
		target, err := url.ParseRequestURI(orders + "/scale?" + query)
		if err != nil || target.RawQuery != query || strings.ContainsAny(query, " \t\r\n\f#") {
			return // net/http answers 400 itself, or a client never sends it
		}
		if status := api.post(t, target.String(), body); status >= 400 {
			return
		}
		req, _ := api.below.asked.(protocol.ScaleRequest)
		require.NotNil(t, req.TargetShardCount)
		require.True(t, *req.TargetShardCount >= 0 && *req.TargetShardCount <= maxShards)
		require.NotEmpty(t, strings.TrimSpace(req.RequestedBy))
		require.NotEmpty(t, strings.TrimSpace(req.Reason))
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		want := "Scale orders"
		if values.Get("dryRun") == "true" {
			want = "PlanScale orders"
		}
		require.Equal(t, []string{want}, api.below.seen())
	})
}

// FuzzPath holds that whatever path is sent, only valid names reach a layer below, and
// that nothing is redirected.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		orders, billing, billing + "/producer-routing", monitoring + "/members", base + "/streams/a%3Ab", base + "/streams/%2e%2e", resharding, resharding + "%20",
		base + "/streams/a%2Fb/groups/g", base + "/streams/a%252Fb", "/", "//", "/healthz", base + "/streams/{}", base + "/streams/" + strings.Repeat("a", 201),
	} {
		f.Add(seed)
	}
	api := newFuzzed()
	f.Fuzz(func(t *testing.T, path string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || target.Host != "" {
			return // net/http answers 400 itself
		}
		request := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		request.URL = target
		status := api.ask(t, request)
		require.False(t, status >= 300 && status < 400)
		for _, call := range api.below.seen() {
			words := strings.Split(call, " ")
			if len(words) > 1 {
				require.NoError(t, protocol.CheckStreamPrefix(words[1], protocol.DefaultKeyPrefix))
			}
			if len(words) > 2 {
				require.NoError(t, protocol.CheckConsumerGroup(words[2]))
			}
			if words[0] == "Migration" {
				require.Regexp(t, "^[0-9A-Za-z-]{1,64}$", words[3])
			}
		}
	})
}
