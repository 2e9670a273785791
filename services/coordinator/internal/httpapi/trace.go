package httpapi

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// traced says what spans tell of requests. What probes and the monitor ask again and again,
// whether anybody uses the suite or not, makes none.
func traced(basePath string) tracing.Requests {
	polled := map[string]bool{"/healthz": true, "/readyz": true, strings.TrimSuffix(basePath, "/") + snapshotRoute: true}
	return tracing.Requests{
		About: func(r *http.Request) tracing.About {
			return tracing.About{
				Route: r.Pattern, Stream: chi.URLParam(r, streamParameter), Group: chi.URLParam(r, groupParameter),
			}
		},
		Skip: func(r *http.Request) bool { return polled[r.URL.Path] },
	}
}
