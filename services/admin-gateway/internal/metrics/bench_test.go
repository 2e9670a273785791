package metrics

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// BenchmarkStage is what counting costs a heartbeat; the gateway spends some 100 µs on one.
func BenchmarkStage(b *testing.B) {
	now := time.Unix(1000, 0)
	m := New(prometheus.NewRegistry(), base, func() time.Time { return now })
	e := exchange.Exchange{Route: route.Route{
		Pattern: groupPattern, Method: http.MethodPost, Service: route.Coordinator, Stream: "orders", Group: "billing",
	}}
	handler := m.Stage(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*exchange.Of(r.Context()) = e
		w.WriteHeader(http.StatusOK)
	}))
	request := httptest.NewRequestWithContext(b.Context(), http.MethodPost, base+"/streams/orders/groups/billing", nil)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
}
