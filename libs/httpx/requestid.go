package httpx

import (
	"context"
	"net/http"

	"github.com/oklog/ulid/v2"
)

// HeaderRequestID names the header that carries a request's id both ways.
const HeaderRequestID = "X-Request-Id"

const maxRequestID = 128

// Identify gives every request an id: the caller's own where it fits
// [A-Za-z0-9._:-]{1,128}, else a new ULID (wire contract). The answer's header
// repeats it, and the context carries it to whoever logs.
func Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(HeaderRequestID)
		if !fitsRequestID(id) {
			id = ulid.Make().String()
		}
		w.Header().Set(HeaderRequestID, id)
		next.ServeHTTP(w, r.WithContext(WithRequestID(r.Context(), id)))
	})
}

// WithRequestID returns a context that carries id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, noteKey{}, &note{requestID: id})
}

// RequestID returns the id that ctx carries, or "" when it carries none.
func RequestID(ctx context.Context) string {
	if n := noteOf(ctx); n != nil {
		return n.requestID
	}
	return ""
}

func fitsRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		if !requestIDByte(id[i]) {
			return false
		}
	}
	return true
}

func requestIDByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	default:
		return c == '.' || c == '_' || c == ':' || c == '-'
	}
}
