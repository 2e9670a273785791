package idempotency_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

func TestAPanicGivesTheKeyFree(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() {
		send(k, scale("k"), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("a part of an ans"))
			panic(http.ErrAbortHandler)
		})
	})
	require.JSONEq(t, `{"call":1}`, send(k, scale("k"), s.accept).Body.String())
}

func TestTheAnswerIsKeptBeforeItIsGiven(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	w := &impatient{ResponseWriter: send(k, scale("other"), s.accept), again: func() answered { return send(k, scale("k"), s.accept) }}
	x := scale("k")
	k.Stage(http.HandlerFunc(s.accept)).ServeHTTP(w, requestOf(t, x))
	require.True(t, w.got.replayed(), "whoever has a status has an answer to ask for again")
	require.EqualValues(t, 2, s.calls.Load())
}

// impatient asks again as soon as it sees a status.
type impatient struct {
	http.ResponseWriter
	again func() answered
	got   answered
}

func (i *impatient) WriteHeader(int) { i.got = i.again() }

func TestAClaimThatIsForgottenEndsAfterTwoMinutes(t *testing.T) {
	t.Parallel()
	k, clock := newKeeper()
	var s service
	late := send(k, scale("k"), s.meanwhile(func() {
		clock.set(2*time.Minute - 1)
		require.Equal(t, protocol.CodeIdempotencyKeyInUse, send(k, scale("k"), s.accept).x.Code)
		clock.set(2 * time.Minute)
		require.JSONEq(t, `{"call":1}`, send(k, scale("k"), s.accept).Body.String())
	}))
	require.JSONEq(t, `{"call":2}`, late.Body.String())
	again := send(k, scale("k"), s.accept)
	require.True(t, again.replayed())
	require.JSONEq(t, `{"call":1}`, again.Body.String(), "a late answer does not replace the one that is kept")
}

// faulty is a store of which some calls fail.
type faulty struct {
	idempotency.Store
	claim, settle error
}

func (f *faulty) Claim(ctx context.Context, c idempotency.Claim, now time.Time) (idempotency.Found, error) {
	if f.claim != nil {
		return idempotency.Found{}, f.claim
	}
	return f.Store.Claim(ctx, c, now)
}

func (f *faulty) Keep(ctx context.Context, c idempotency.Claim, a idempotency.Answer, now time.Time) error {
	if f.settle != nil {
		return f.settle
	}
	return f.Store.Keep(ctx, c, a, now)
}

func TestWithoutItsStoreNoKeyIsLetThroughAndOneLineSaysSo(t *testing.T) {
	t.Parallel()
	var clock dial
	var lines bytes.Buffer
	store := &faulty{Store: idempotency.NewLocal(10), claim: errors.New("secret address refused the connection")}
	k := idempotency.New(store, clock.now, slog.New(slog.NewTextHandler(&lines, nil)))
	var s service
	for range 3 {
		refused := send(k, scale("k"), s.accept)
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Equal(t, protocol.CodeStoreUnavailable, refused.x.Code)
		require.NotContains(t, refused.Body.String(), "secret")
	}
	require.Zero(t, s.calls.Load())
	keyless := scale("")
	keyless.keys = nil
	require.Equal(t, http.StatusAccepted, send(k, keyless, s.accept).Code, "who asks for no promise gets none")
	store.claim = nil
	send(k, scale("k"), s.accept)
	send(k, scale("k"), s.accept)
	require.Equal(t, 1, strings.Count(lines.String(), "cannot be claimed"), lines.String())
	require.Equal(t, 1, strings.Count(lines.String(), "can be claimed again"))
}

func TestAnAnswerThatCannotBeKeptIsGivenAllTheSameAndLogged(t *testing.T) {
	t.Parallel()
	var clock dial
	var lines bytes.Buffer
	store := &faulty{Store: idempotency.NewLocal(10), settle: errors.New("connection refused")}
	k := idempotency.New(store, clock.now, slog.New(slog.NewTextHandler(&lines, nil)))
	var s service
	require.Equal(t, http.StatusAccepted, send(k, scale("k"), s.accept).Code)
	require.Contains(t, lines.String(), "not settled")
	require.Equal(t, protocol.CodeIdempotencyKeyInUse, send(k, scale("k"), s.accept).x.Code, "until the claim ends")
}

func TestMoreRequestsUnderWayThanPlacesAreRefused(t *testing.T) {
	t.Parallel()
	var clock dial
	k := idempotency.New(idempotency.NewLocal(1), clock.now, nil)
	var s service
	send(k, scale("k"), s.meanwhile(func() {
		refused := send(k, scale("l"), s.accept)
		require.Equal(t, http.StatusServiceUnavailable, refused.Code)
		require.Equal(t, protocol.CodeOverloaded, refused.x.Code)
	}))
	require.Equal(t, http.StatusAccepted, send(k, scale("l"), s.accept).Code, "a kept answer makes room")
	require.EqualValues(t, 2, s.calls.Load())
}
