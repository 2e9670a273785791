package metrics

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// groupParameter is in the patterns whose stream and group are labels.
const groupParameter = "{consumerGroup}"

// Stage counts requests when they have been answered. It stands outside of all that may refuse,
// and gives the request the exchange that the other stages fill in.
func (m *Metrics) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &exchange.Exchange{}
		began, answer := m.now(), &answered{ResponseWriter: w}
		defer func() { m.count(r, e, answer.status, m.now().Sub(began)) }()
		next.ServeHTTP(answer, r.WithContext(exchange.With(r.Context(), e)))
	})
}

func (m *Metrics) count(r *http.Request, e *exchange.Exchange, status int, took time.Duration) {
	m.refused(e.Code, e.Principal.Name != "")
	pattern := e.Route.Pattern
	if !strings.HasPrefix(r.URL.Path, m.base) {
		return
	}
	if pattern == "" {
		pattern = none
	}
	m.under(e, status > 0 && status < http.StatusBadRequest, func(of pair) {
		labels := []string{methodOf(r), pattern, strconv.Itoa(status), outcomeOf(status), of.stream, of.group}
		m.requests.WithLabelValues(labels...).Inc()
		if !e.Route.Streams {
			m.durations.Observe(took, labels...)
		}
	})
}

// under calls count with the stream and group that a request is counted under. A deletion ends
// the series of what it has deleted.
func (m *Metrics) under(e *exchange.Exchange, success bool, count func(pair)) {
	of := pair{url.PathEscape(e.Route.Stream), url.PathEscape(e.Route.Group)}
	if e.Route.Method == http.MethodDelete && success && !e.Route.DryRun {
		m.groups.gone(of)
		count(pair{none, none})
		return
	}
	if !strings.Contains(e.Route.Pattern, groupParameter) {
		count(pair{none, none})
		return
	}
	// Only a service knows whether there is such a group.
	m.groups.count(of, success && e.Route.Service != route.Gateway, count)
}

// outcomeOf is the contract's: an answer that never began is an ERROR.
func outcomeOf(status int) string {
	switch {
	case status == 0:
		return "ERROR"
	case status < http.StatusBadRequest:
		return "SUCCESS"
	case status < http.StatusInternalServerError:
		return "CLIENT_ERROR"
	default:
		return "SERVER_ERROR"
	}
}

// methodOf returns the method, of those that exist: anybody may make others up.
func methodOf(r *http.Request) string {
	known := []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace,
	}
	if slices.Contains(known, r.Method) {
		return r.Method
	}
	return "OTHER"
}

// answered notes the status of an answer; 0 as long as it has not begun.
type answered struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answered) Write(data []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach flushing and deadlines.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
