package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// none stands for a stream, group or route that a request does not have.
const none = "none"

// Metrics are the gateway's own counters. They are safe for concurrent use.
type Metrics struct {
	base   string
	now    func() time.Time
	groups *groups

	requests  *prometheus.CounterVec
	durations *telemetry.Timer
	refusals  *prometheus.CounterVec
	limited   prometheus.Counter
	logins    *prometheus.CounterVec
	upstreams *prometheus.CounterVec
}

// New returns counters that are registered with registry. basePath is the prefix of what is
// counted as the API, now the clock.
func New(registry prometheus.Registerer, basePath string, now func() time.Time) *Metrics {
	labels := []string{"method", "route", "status", "outcome", "stream", "group"}
	m := &Metrics{
		base: strings.TrimSuffix(basePath, "/") + "/", now: now,
		requests: counters("api_request_total", "Requests of the API that were answered.", labels...),
		durations: telemetry.NewTimer(telemetry.TimerOpts{
			Name: "api_request_duration", Help: "Seconds from a request of the API to the end of its answer.",
			Labels: labels, Quantiles: true,
		}),
		refusals:  counters("gateway_refused_total", "Requests that the gateway refused itself, by error code.", "code"),
		limited:   prometheus.NewCounter(named("rate_limited_total", "Changes that were refused because their user asks for too many.")),
		logins:    counters("login_refused_total", "Passwords that were refused, by reason: wrong, or locked after too many failures.", "reason"),
		upstreams: counters("upstream_failed_total", "Tries at an instance of a service that failed: no answer, none that is the service's, or one that says that it ends.", "service", "instance"),
	}
	m.groups = newGroups(now, m.forget)
	for _, reason := range []string{loginWrong, loginLocked} {
		m.logins.WithLabelValues(reason)
	}
	registry.MustRegister(m.requests, m.durations, m.refusals, m.limited, m.logins, m.upstreams)
	return m
}

// The reasons of login_refused_total.
const (
	loginWrong  = "wrong"
	loginLocked = "locked"
)

// LoginRefused counts a password that was refused, because it is wrong or, when locked, without
// being looked at.
func (m *Metrics) LoginRefused(locked bool) {
	reason := loginWrong
	if locked {
		reason = loginLocked
	}
	m.logins.WithLabelValues(reason).Inc()
}

// UpstreamFailed counts a try at an instance, which is named by its host and port.
func (m *Metrics) UpstreamFailed(service route.Service, instance string) {
	m.upstreams.WithLabelValues(string(service), instance).Inc()
}

// refused counts what the gateway refused itself.
func (m *Metrics) refused(code protocol.Code, by bool) {
	if code == "" {
		return
	}
	m.refusals.WithLabelValues(string(code)).Inc()
	if by && code == protocol.CodeRateLimitExceeded {
		m.limited.Inc()
	}
}

func (m *Metrics) forget(stream, group string) {
	match := prometheus.Labels{"stream": stream, "group": group}
	m.requests.DeletePartialMatch(match)
	m.durations.Forget(match)
}

func named(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: telemetry.Namespace, Name: name, Help: help}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(named(name, help), labels)
}
