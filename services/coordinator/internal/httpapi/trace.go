package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// traced says what spans tell of requests. What probes ask again and again makes none.
func traced() tracing.Requests {
	return tracing.Requests{
		About: func(r *http.Request) tracing.About {
			return tracing.About{
				Route: r.Pattern, Stream: chi.URLParam(r, streamParameter), Group: chi.URLParam(r, groupParameter),
			}
		},
		Skip: func(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" },
	}
}
