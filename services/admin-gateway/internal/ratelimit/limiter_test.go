package ratelimit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestTheSixtyFirstChangeOfAMinuteIsRefusedAndTheNextMinuteLetsIn(t *testing.T) {
	t.Parallel()
	var clock dial
	l := ratelimit.New(minutely(), ratelimit.NewLocal(time.Minute, 1_000), clock.now, nil)
	clock.set(12_500 * time.Millisecond)
	for left := 59; left >= 0; left-- {
		w, x := ask(l, "billing")
		require.Equal(t, http.StatusAccepted, w.Code)
		require.Empty(t, x.Code)
		require.Equal(t, "60", w.Header().Get("RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(left), w.Header().Get("RateLimit-Remaining"))
		require.Equal(t, "48", w.Header().Get("RateLimit-Reset"), "47.5 s rounded up")
		require.Empty(t, w.Header().Get("Retry-After"))
	}
	clock.set(59*time.Second + 999*time.Millisecond)
	for range 3 {
		w, x := ask(l, "billing")
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		require.Equal(t, protocol.CodeRateLimitExceeded, x.Code)
		require.Equal(t, "60", w.Header().Get("RateLimit-Limit"))
		require.Equal(t, "0", w.Header().Get("RateLimit-Remaining"))
		require.Equal(t, "1", w.Header().Get("RateLimit-Reset"))
		require.Equal(t, "1", w.Header().Get("Retry-After"), "1 ms rounded up")
		var refusal protocol.ErrorResponse
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &refusal))
		require.Equal(t, protocol.CodeRateLimitExceeded, refusal.ErrorCode)
		require.True(t, refusal.Retriable)
	}
	clock.set(time.Minute)
	w, _ := ask(l, "billing")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Equal(t, "59", w.Header().Get("RateLimit-Remaining"))
	require.Equal(t, "60", w.Header().Get("RateLimit-Reset"))
}

func TestSecurityWhoeverWaitsForRetryAfterIsLetIn(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Duration{0, 1, time.Millisecond, 59_001 * time.Millisecond, time.Minute - 1} {
		var clock dial
		l := ratelimit.New(ratelimit.Config{Enabled: true, Limit: 1}, ratelimit.NewLocal(time.Minute, 10), clock.now, nil)
		clock.set(at)
		ask(l, "")
		w, _ := ask(l, "")
		require.Equal(t, http.StatusTooManyRequests, w.Code)
		wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
		require.NoError(t, err)
		require.GreaterOrEqual(t, wait, 1)
		require.Less(t, time.Duration(wait-1)*time.Second, time.Minute-at, "not a second too many")
		clock.set(at + time.Duration(wait)*time.Second)
		w, _ = ask(l, "")
		require.Equal(t, http.StatusAccepted, w.Code, at)
	}
}

func TestPrincipalsStreamsAndGroupsCountEachForItself(t *testing.T) {
	t.Parallel()
	var clock dial
	l := ratelimit.New(ratelimit.Config{Enabled: true, Limit: 1}, ratelimit.NewLocal(time.Minute, 100), clock.now, nil)
	// Joined without lengths, or with a separator that a name may contain, some of these
	// would be one.
	for _, parts := range [][3]string{
		{"ops", "orders", "billing"},
		{"ops", "orders", ""},
		{"ops", "", ""},
		{"dev", "orders", "billing"},
		{"ops", "ordersbilling", ""},
		{"opsorders", "billing", ""},
		{"", "ops", "ordersbilling"},
		{"ops", "a:b", "c"},
		{"ops", "a", "b:c"},
		{"ops:a", "b", "c"},
		{"ops6", ":orders", ""},
		{"ops", "1:a", ""},
	} {
		x := exchange.Exchange{
			Principal: auth.Principal{Name: parts[0]},
			Route:     route.Route{Mutation: true, Stream: parts[1], Group: parts[2]},
		}
		w, _ := send(l, &x)
		require.Equal(t, http.StatusAccepted, w.Code, parts)
		w, _ = send(l, &x)
		require.Equal(t, http.StatusTooManyRequests, w.Code, parts)
	}
}

func TestEverythingElseOfTheRouteAndTheRequestCountsTogether(t *testing.T) {
	t.Parallel()
	var clock dial
	l := ratelimit.New(ratelimit.Config{Enabled: true, Limit: 6}, ratelimit.NewLocal(time.Minute, 100), clock.now, nil)
	for i, r := range []route.Route{
		{Operation: "SCALE_STREAM", Method: http.MethodPost, Path: "/coord/v1/streams/orders/scale"},
		{Operation: "SCALE_STREAM", Method: http.MethodPost, DryRun: true, Query: "dryRun=true"},
		{Operation: "DELETE_STREAM", Method: http.MethodDelete},
		{Member: "m-1"},
		{Resharding: "r-1"},
		{},
		{Operation: "CREATE_STREAM"},
	} {
		r.Mutation, r.Stream = true, "orders"
		w, _ := send(l, &exchange.Exchange{Route: r, Body: []byte{byte(i)}, TokenID: strconv.Itoa(i)})
		want := http.StatusAccepted
		if i == 6 {
			want = http.StatusTooManyRequests
		}
		require.Equal(t, want, w.Code, r)
	}
}

func TestReadsAreNotLimitedAndNothingIsWhereItIsOff(t *testing.T) {
	t.Parallel()
	var clock dial
	none := ratelimit.New(ratelimit.Config{Enabled: true}, ratelimit.NewLocal(time.Minute, 1), clock.now, nil)
	w, _ := send(none, &exchange.Exchange{Route: route.Route{Stream: "orders"}})
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Empty(t, w.Header())
	w, _ = ask(none, "")
	require.Equal(t, http.StatusTooManyRequests, w.Code, "a limit of 0 lets no mutation pass")

	off := ratelimit.New(ratelimit.Config{}, broken{errors.New("asked")}, clock.now, nil)
	w, _ = ask(off, "")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Empty(t, w.Header())
}

// broken is a counter whose store is away, or back where the error is nil.
type broken struct{ error }

func (b broken) Hit(context.Context, string, time.Time) (ratelimit.Hits, error) {
	return ratelimit.Hits{Count: 1, Reset: time.Second}, b.error
}

func TestAStoreThatIsAwayRefusesOrLetsPassAsConfigured(t *testing.T) {
	t.Parallel()
	var clock dial
	away := broken{errors.New("secret address refused the connection")}
	w, x := ask(ratelimit.New(minutely(), away, clock.now, nil), "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, protocol.CodeStoreUnavailable, x.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.NotContains(t, w.Body.String(), "secret")
	require.Empty(t, w.Header().Get("RateLimit-Limit"))

	config := minutely()
	config.FailOpen = true
	w, x = ask(ratelimit.New(config, away, clock.now, nil), "")
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Empty(t, x.Code)
	require.Empty(t, w.Header(), "what is not known is not said")
}

func TestAStoreThatIsAwayIsLoggedOnceAndItsReturnToo(t *testing.T) {
	t.Parallel()
	var clock dial
	var lines bytes.Buffer
	counter := &broken{errors.New("connection refused")}
	l := ratelimit.New(minutely(), counter, clock.now, slog.New(slog.NewTextHandler(&lines, nil)))
	for range 2 {
		for range 5 {
			ask(l, "")
		}
		counter.error = nil
		for range 5 {
			ask(l, "")
		}
		counter.error = errors.New("connection refused")
	}
	require.Equal(t, 2, strings.Count(lines.String(), "rate limit cannot count"), lines.String())
	require.Equal(t, 2, strings.Count(lines.String(), "rate limit counts again"))
}
