package httpx

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const maxLoggedPath = 256

// LevelOf decides how loud the access log's line of a request is. It is called after
// the answer, when r.Pattern holds the route.
type LevelOf func(r *http.Request, status int) slog.Level

// AccessLog logs one line for every request; a nil level means Info for all.
// It stands inside Identify, so that the line carries the request id.
func AccessLog(log *slog.Logger, level LevelOf) func(http.Handler) http.Handler {
	log = Logger(log)
	if level == nil {
		level = func(*http.Request, int) slog.Level { return slog.LevelInfo }
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec, begun := record(w), clock.Now()
			defer func() { logRequest(log, level(r, rec.status), rec, r, clock.Since(begun)) }()
			next.ServeHTTP(rec, r)
		})
	}
}

func logRequest(log *slog.Logger, level slog.Level, rec *recorder, r *http.Request, took time.Duration) {
	if !log.Enabled(r.Context(), level) {
		return
	}
	log.LogAttrs(r.Context(), level, "request",
		slog.String("method", r.Method), slog.String("path", logPath(r)), slog.String("route", r.Pattern),
		slog.Int("status", rec.status), slog.Int64("bytes", rec.bytes),
		slog.Duration("took", took), slog.String("remote", r.RemoteAddr))
}

func logPath(r *http.Request) string {
	path := r.URL.EscapedPath()
	if len(path) > maxLoggedPath {
		return path[:maxLoggedPath]
	}
	return path
}
