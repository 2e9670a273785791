package idempotency_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

func newKeeper() (*idempotency.Keeper, *dial) {
	clock := &dial{}
	return idempotency.New(idempotency.NewLocal(1_000), clock.now, nil), clock
}

func TestTheSameKeyAndBodyGetTheFirstAnswerFor24Hours(t *testing.T) {
	t.Parallel()
	k, clock := newKeeper()
	var s service
	first := send(k, scale("k"), s.accept)
	require.Equal(t, http.StatusAccepted, first.Code)
	require.False(t, first.replayed())
	require.False(t, first.x.Replayed)

	clock.set(24*time.Hour - 1)
	again := send(k, scale("k"), s.accept)
	require.Equal(t, http.StatusAccepted, again.Code)
	require.JSONEq(t, `{"call":1}`, again.Body.String())
	require.Equal(t, "application/json", again.Header().Get("Content-Type"))
	require.Equal(t, "10", again.Header().Get("Content-Length"))
	require.True(t, again.replayed())
	require.True(t, again.x.Replayed, "the audit records a replay")
	require.EqualValues(t, 1, s.calls.Load())

	clock.set(24 * time.Hour)
	require.JSONEq(t, `{"call":2}`, send(k, scale("k"), s.accept).Body.String())
}

func TestAnotherBodyUnderTheSameKeyIsRefused(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	send(k, scale("k"), s.accept)
	other := scale("k")
	other.body = "bb"
	refused := send(k, other, s.accept)
	require.Equal(t, http.StatusConflict, refused.Code)
	require.Equal(t, protocol.CodeIdempotencyKeyReused, refused.x.Code)
	require.Contains(t, refused.Body.String(), "IDEMPOTENCY_KEY_REUSED")
	require.False(t, refused.x.Replayed)
	require.EqualValues(t, 1, s.calls.Load())
	require.JSONEq(t, `{"call":1}`, send(k, scale("k"), s.accept).Body.String(), "the first answer stays")
}

func TestAKeyIsInUseWhileTheFirstRequestIsUnderWay(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	send(k, scale("k"), s.meanwhile(func() {
		second := send(k, scale("k"), s.accept)
		require.Equal(t, http.StatusConflict, second.Code)
		require.Equal(t, protocol.CodeIdempotencyKeyInUse, second.x.Code)
		require.Equal(t, "1", second.Header().Get("Retry-After"))
		other := scale("k")
		other.body = "bb"
		require.Equal(t, protocol.CodeIdempotencyKeyReused, send(k, other, s.accept).x.Code, "waiting would not help")
		require.Zero(t, s.calls.Load())
	}))
	require.True(t, send(k, scale("k"), s.accept).replayed())
}

func TestAKeyHoldsForOnePrincipalMethodPathAndQueryOnly(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	all := []asked{scale("k"), scale("K"), scale("k "), {by: "ops", method: "POST", path: "/a", query: "b", body: "aa", keys: []string{"k"}}}
	for _, change := range []func(*asked){
		func(a *asked) { a.by = "dev" },
		func(a *asked) { a.by, a.method = "opsP", "OST" },
		func(a *asked) { a.method = http.MethodDelete },
		func(a *asked) { a.path = "/coord/v1/streams/orders2/scale" },
		func(a *asked) { a.query = "force=true" },
		func(a *asked) { a.path, a.query = "/coord/v1/streams/orders", "/scale" },
		func(a *asked) { a.path, a.keys = "/coord/v1/streams/orders/scal", []string{"ek"} },
	} {
		other := scale("k")
		change(&other)
		all = append(all, other)
	}
	for _, separator := range []string{"", "0", ":", ",", " ", "\x00"} {
		one, other := scale("k"), scale("k")
		one.path, one.query = "/a"+separator+separator+"b", "c"
		other.path, other.query = "/a"+separator, "b"+separator+"c"
		all = append(all, one, other)
	}
	for i, a := range all {
		require.False(t, send(k, a, s.accept).replayed(), a)
		require.EqualValues(t, i+1, s.calls.Load(), a)
	}
	for _, a := range all {
		require.True(t, send(k, a, s.accept).replayed(), a)
	}
}

func TestMalformedKeysAreRefused(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	for _, keys := range [][]string{
		{""}, {strings.Repeat("k", 129)}, {"k\x00"}, {"k\n"}, {"\x7f"}, {"schlüssel"}, {"\xff"}, {"a", "b"}, {"a", "a"}, {"a", ""},
	} {
		a := scale("")
		a.keys = keys
		refused := send(k, a, s.accept)
		require.Equal(t, http.StatusBadRequest, refused.Code, keys)
		require.Equal(t, protocol.CodeInvalidRequest, refused.x.Code)
	}
	require.Zero(t, s.calls.Load())
	for _, key := range []string{"k", strings.Repeat("~", 128), `"quoted and spaced"`, "!"} {
		require.Equal(t, http.StatusAccepted, send(k, scale(key), s.accept).Code, key)
	}
}

func TestReadsDryRunsAndRequestsWithoutAKeyPassBy(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	read, dry, keyless := scale("k"), scale("k"), scale("k")
	read.read, dry.dryRun, keyless.keys = true, true, nil
	for range 2 {
		for _, a := range []asked{read, dry, keyless} {
			require.False(t, send(k, a, s.accept).replayed())
		}
	}
	require.EqualValues(t, 6, s.calls.Load())
}

func TestOnlyAnswersAboutTheRequestAreKept(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	for status, kept := range map[int]bool{
		200: true, 201: true, 202: true, 204: true, 400: true, 404: true, 409: true, 422: true,
		401: false, 403: false, 429: false, 500: false, 502: false, 503: false, 504: false,
	} {
		var s service
		a := scale(http.StatusText(status))
		require.Equal(t, status, send(k, a, s.refuse(status)).Code)
		again := send(k, a, s.refuse(status))
		require.Equal(t, status, again.Code)
		require.Equal(t, kept, again.replayed(), status)
		require.Equal(t, kept, s.calls.Load() == 1, status)
	}
}

// A refusal that says that it passes must not be what the next 24 hours answer.
func TestRefusalThatIsRetriableIsTriedAgain(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	answers := httpx.NewAnswers(nil)
	calls := 0
	refuse := func(w http.ResponseWriter, r *http.Request) {
		calls++
		answers.Error(w, r, protocol.Errorf(protocol.CodeActiveMigrationExists, "busy"))
	}
	for range 2 {
		again := send(k, scale("k"), refuse)
		require.Equal(t, http.StatusConflict, again.Code)
		require.False(t, again.replayed())
	}
	require.Equal(t, 2, calls)
	var s service
	require.Equal(t, http.StatusAccepted, send(k, scale("k"), s.accept).Code, "and then it is carried out")
}

func TestSecurityAHundredAtOnceWithOneKeyReachTheServiceOnce(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			a := send(k, scale("k"), s.accept)
			if a.Code != http.StatusAccepted && a.x.Code != protocol.CodeIdempotencyKeyInUse {
				t.Errorf("answered %d %s", a.Code, a.x.Code)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, s.calls.Load())
}
