package idempotency_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial is a clock set by hand.
type dial struct{ since atomic.Int64 }

func (d *dial) now() time.Time {
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(d.since.Load()))
}

func (d *dial) set(since time.Duration) { d.since.Store(int64(since)) }

// asked is a request for a change: who asks for what, with which body, under which keys.
type asked struct {
	by, method, path, query, body string
	keys                          []string
	dryRun, read                  bool
}

// scale asks for a change of orders under a key.
func scale(key string) asked {
	return asked{by: "ops", method: http.MethodPost, path: "/coord/v1/streams/orders/scale", body: "aa", keys: []string{key}}
}

func (a asked) exchange() *exchange.Exchange {
	return &exchange.Exchange{
		Principal: auth.Principal{Name: a.by}, BodyHash: a.body,
		Route: route.Route{Mutation: !a.read, DryRun: a.dryRun, Method: a.method, Path: a.path, Query: a.query},
	}
}

// answered is what came of a request.
type answered struct {
	*httptest.ResponseRecorder
	x *exchange.Exchange
}

func (a answered) replayed() bool { return a.Header().Get("Idempotency-Replayed") == "true" }

func send(k *idempotency.Keeper, a asked, next http.HandlerFunc) answered {
	return sendWith(context.Background(), k, a, next)
}

func sendWith(ctx context.Context, k *idempotency.Keeper, a asked, next http.HandlerFunc) answered {
	x := a.exchange()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(exchange.With(ctx, x), http.MethodPost, "/", http.NoBody)
	for _, key := range a.keys {
		r.Header.Add("Idempotency-Key", key)
	}
	k.Stage(next).ServeHTTP(w, r)
	return answered{w, x}
}

// service answers every request with another body and counts them.
type service struct{ calls atomic.Int64 }

func (s *service) accept(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = w.Write([]byte(`{"call":` + strconv.FormatInt(s.calls.Add(1), 10) + `}`))
}

// meanwhile does something before every answer.
func (s *service) meanwhile(do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do()
		s.accept(w, r)
	}
}

// refuse answers every request with a status and counts them.
func (s *service) refuse(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s.calls.Add(1)
		w.WriteHeader(status)
	}
}
