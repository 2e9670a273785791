package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Config is what the proxy is set to. Zero numbers and times take their defaults.
type Config struct {
	// Upstreams are the instances of each service by absolute URLs of http or https with
	// nothing but a host and port. A service without any is answered with
	// UPSTREAM_UNAVAILABLE.
	Upstreams map[route.Service][]string
	Timeouts  Timeouts
	// MaxInFlight is how many requests one instance may have under way (4096); above it
	// another instance is asked, or the answer is OVERLOADED at once.
	MaxInFlight int
	// H2C speaks HTTP/2 without TLS to upstreams, in place of HTTP/1.1.
	H2C bool
	// LegacyRetry answers heartbeats of old clients with RETRY where it would be an error
	// (wire contract, Rules).
	LegacyRetry bool
}

// Timeouts bound how long an upstream may take.
type Timeouts struct {
	// Connect is the time for a connection (2 s).
	Connect time.Duration
	// Read is the time for the whole answer of a read or a heartbeat (10 s), for the first
	// byte only where the answer has no end. Mutation is that of mutations (65 s).
	Read, Mutation time.Duration
	// Survey is the time for what an instance tells of itself (2 s).
	Survey time.Duration
	// WaitMargin goes on top of the time that a request asks to be kept waiting (5 s).
	WaitMargin time.Duration
	// Idle is how long an unused connection is kept (30 s). It is below the 60 s after which
	// the services close one, so that few requests meet a connection that has just gone.
	Idle time.Duration
	// StreamWrite is the time that a caller may take for a piece of an answer without an
	// end (30 s).
	StreamWrite time.Duration
}

// Deps are the parts that the proxy stands on. All are required, but Log, which nil discards,
// and those that say so.
type Deps struct {
	// Ring signs the tokens for upstreams.
	Ring *auth.Keyring
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Answers writes refusals.
	Answers httpx.Answers
	// Tracing records the tries as spans and hands on the trace; nil does neither.
	Tracing *tracing.Tracing
	// Failed is told of every try at an instance that failed, by its host and port; nil is not.
	Failed func(service route.Service, instance string)
}

func (c Config) withDefaults() Config {
	c.MaxInFlight = orDefault(c.MaxInFlight, 4096)
	c.Timeouts = Timeouts{
		Connect:     orDefault(c.Timeouts.Connect, 2*time.Second),
		Read:        orDefault(c.Timeouts.Read, 10*time.Second),
		Mutation:    orDefault(c.Timeouts.Mutation, 65*time.Second),
		Survey:      orDefault(c.Timeouts.Survey, 2*time.Second),
		WaitMargin:  orDefault(c.Timeouts.WaitMargin, 5*time.Second),
		Idle:        orDefault(c.Timeouts.Idle, 30*time.Second),
		StreamWrite: orDefault(c.Timeouts.StreamWrite, 30*time.Second),
	}
	return c
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// parseUpstream reads the URL of an instance.
func parseUpstream(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is no URL") // the parser's text repeats credentials
	case parsed.User != nil:
		return nil, errors.New("it has credentials")
	case !slices.Contains([]string{"http", "https"}, parsed.Scheme) || parsed.Hostname() == "" || parsed.Opaque != "":
		return nil, fmt.Errorf("%q is no absolute URL of http or https", text)
	case parsed.Path != "" && parsed.Path != "/" || parsed.RawQuery != "" || parsed.ForceQuery || parsed.Fragment != "":
		return nil, fmt.Errorf("%q has more than a host and port", text)
	}
	return &url.URL{Scheme: parsed.Scheme, Host: parsed.Host}, nil
}
