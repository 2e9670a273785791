package ratelimit_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// century is a window that no test sees the end of.
const century = 100 * 365 * 24 * time.Hour

// minutely are the default settings.
func minutely() ratelimit.Config {
	return ratelimit.Config{Enabled: true, Limit: 60, Window: time.Minute}
}

// dial is a clock set by hand. Its zero is the beginning of a minute.
type dial struct{ since atomic.Int64 }

func (d *dial) now() time.Time {
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(d.since.Load()))
}

func (d *dial) set(since time.Duration) { d.since.Store(int64(since)) }

// ask sends a mutation of a group of orders, by ops, through the limiter.
func ask(l *ratelimit.Limiter, group string) (*httptest.ResponseRecorder, *exchange.Exchange) {
	return send(l, &exchange.Exchange{
		Principal: auth.Principal{Name: "ops"},
		Route:     route.Route{Mutation: true, Stream: "orders", Group: group},
	})
}

// send sends a request through the limiter; what passes is answered 202.
func send(l *ratelimit.Limiter, x *exchange.Exchange) (*httptest.ResponseRecorder, *exchange.Exchange) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	l.Stage(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	})).ServeHTTP(w, r.WithContext(exchange.With(r.Context(), x)))
	return w, x
}
