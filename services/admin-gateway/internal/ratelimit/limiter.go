// Package ratelimit bounds how many mutations a principal may ask for on one stream and group
// in a window of time (gateway, Rate limit). Windows are fixed: they begin at multiples of
// their length, for everybody at once.
//
// Non-obvious:
//   - Requests are counted by names that the route has decoded and checked, never by the path
//     as it was written, so no spelling of a path has a count of its own.
//   - Refused requests count as well. A window's end lets in again whatever came before.
//   - Dry runs count: making a plan costs the coordinator as much as carrying it out.
package ratelimit

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// The headers that tell a caller how much is left of its window.
const (
	HeaderLimit     = "RateLimit-Limit"
	HeaderRemaining = "RateLimit-Remaining"
	HeaderReset     = "RateLimit-Reset"
)

// Config says how much is allowed.
type Config struct {
	// Enabled false lets everything pass, uncounted.
	Enabled bool
	// Limit is how many mutations pass in a window, by principal, stream and group; 0 lets
	// none pass.
	Limit int
	// Window is the length of a window, at least 1 ms: that of the counter.
	Window time.Duration
	// FailOpen lets mutations pass uncounted while the counter's store is away; otherwise
	// they are refused with STORE_UNAVAILABLE.
	FailOpen bool
}

// Hits is what a counter knows of a key.
type Hits struct {
	// Count is how many requests came in this window, this one included.
	Count int64
	// Reset is how long the window still lasts, above 0.
	Reset time.Duration
}

// Counter counts requests by key in windows of a fixed length.
type Counter interface {
	// Hit counts one request. An error means that it is not known whether it was counted.
	// A counter with a clock of its own, which its users share, ignores now.
	Hit(ctx context.Context, key string, now time.Time) (Hits, error)
}

// Limiter is the rate limit's stage of the pipeline.
type Limiter struct {
	config  Config
	counter Counter
	now     func() time.Time
	log     *slog.Logger
	answers httpx.Answers
	away    atomic.Bool // the store did not answer last
}

// New returns a limiter that counts with counter. A nil log discards.
func New(config Config, counter Counter, now func() time.Time, log *slog.Logger) *Limiter {
	log = httpx.Logger(log)
	return &Limiter{config: config, counter: counter, now: now, log: log, answers: httpx.NewAnswers(log)}
}

// Stage refuses mutations above the limit with RATE_LIMIT_EXCEEDED and a Retry-After, and
// tells those within it how much is left. It stands after authorisation: who has no right
// counts for nobody.
func (l *Limiter) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := exchange.Of(r.Context())
		if !l.config.Enabled || !x.Route.Mutation {
			next.ServeHTTP(w, r)
			return
		}
		hits, err := l.counter.Hit(r.Context(), keyOf(x), l.now())
		l.note(r.Context(), err)
		switch {
		case err == nil:
			l.tell(w.Header(), hits)
			if hits.Count > int64(l.config.Limit) {
				l.refuse(w, r, l.exceeded(w.Header(), hits))
				return
			}
		case !l.config.FailOpen:
			l.refuse(w, r, protocol.Errorf(protocol.CodeStoreUnavailable,
				"the store that counts changes does not answer, so none is let through").Because(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// keyOf names what is counted together. Every part goes with its length, so that no two
// combinations of parts have one name.
func keyOf(x *exchange.Exchange) string {
	var key strings.Builder
	for _, part := range [...]string{x.Principal.Name, x.Route.Stream, x.Route.Group} {
		key.WriteString(strconv.Itoa(len(part)) + ":" + part)
	}
	return key.String()
}

func (l *Limiter) tell(header http.Header, hits Hits) {
	header.Set(HeaderLimit, strconv.Itoa(l.config.Limit))
	header.Set(HeaderRemaining, strconv.FormatInt(max(int64(l.config.Limit)-hits.Count, 0), 10))
	header.Set(HeaderReset, seconds(hits.Reset))
}

func (l *Limiter) exceeded(header http.Header, hits Hits) *protocol.Error {
	header.Set("Retry-After", seconds(hits.Reset))
	return protocol.Errorf(protocol.CodeRateLimitExceeded,
		"more than %d changes of this stream or group in %s, ask again in %s s",
		l.config.Limit, l.config.Window, seconds(hits.Reset))
}

func (l *Limiter) refuse(w http.ResponseWriter, r *http.Request, refusal *protocol.Error) {
	exchange.Of(r.Context()).Code = refusal.Code
	l.answers.Error(w, r, refusal)
}

// note logs once that the store went away, and once that it is back.
func (l *Limiter) note(ctx context.Context, err error) {
	if l.away.Swap(err != nil) == (err != nil) {
		return
	}
	if err == nil {
		l.log.InfoContext(ctx, "rate limit counts again")
		return
	}
	l.log.WarnContext(ctx, "rate limit cannot count", "failOpen", l.config.FailOpen, "error", err)
}

// seconds rounds up to whole seconds, at least 1: after so many the window is over.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}
