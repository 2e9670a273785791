package telemetry

import (
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are answered at once; more get 503.
const maxScrapes = 8

// Handler serves all that the gatherers have, in the text format or OpenMetrics, at /metrics and
// at /actuator/prometheus, where the original had it, and "ok" at /healthz. It needs no
// credentials and belongs on a port of its own. A part that cannot be gathered is left out.
func Handler(gatherers ...prometheus.Gatherer) http.Handler {
	scrape := promhttp.HandlerFor(Merge(gatherers...), promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes,
	})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", scrape)
	mux.Handle("GET /actuator/prometheus", scrape)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		// Who hung up does not read it.
		_, _ = io.WriteString(w, "ok\n")
	})
	return mux
}
