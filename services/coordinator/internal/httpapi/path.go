package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// guardPath refuses paths that two readers could understand differently, and makes the
// router work on the path as it was sent, so that every segment is decoded once, here
// (wire contract, Rules).
func (a *api) guardPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		if err := checkPath(path); err != nil {
			a.answers.Error(w, r, err)
			return
		}
		chi.RouteContext(r.Context()).RoutePath = path
		next.ServeHTTP(w, r)
	})
}

// checkPath looks at a path as it was sent. No valid name has a slash, so an encoded one
// is refused; so are empty and dot segments and what is still encoded after decoding.
func checkPath(escaped string) error {
	if escaped == "/" || escaped == "*" { // "OPTIONS *"
		return nil
	}
	rest, rooted := strings.CutPrefix(escaped, "/")
	for more := rooted; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		text, err := url.PathUnescape(segment)
		if err != nil || text == "" || text == "." || text == ".." || strings.ContainsAny(text, "/\\%\x00") {
			return protocol.Errorf(protocol.CodeInvalidRequest,
				"path has a segment that is not allowed: %q", protocol.Echo(segment))
		}
	}
	if !rooted {
		return protocol.Errorf(protocol.CodeInvalidRequest, "path does not begin with a slash")
	}
	return nil
}
