package httpapi

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// guardPath refuses paths that two readers could understand differently, and makes the
// router work on the path as it was sent, so that every segment is decoded once, here
// (wire contract, Rules).
func (a *api) guardPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if err := httpx.CheckPath(path); err != nil {
			a.answers.Error(w, r, err)
			return
		}
		chi.RouteContext(r.Context()).RoutePath = path
		next.ServeHTTP(w, r)
	})
}
