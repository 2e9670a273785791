package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// What an old client is told when its heartbeat could not be decided. A status of RETRY lets
// it keep what it has and read nothing until the next OK.
const (
	retryIntervalMs  = 1000
	retryRebalanceMs = 60_000
)

// retryAfter is when an old client's heartbeat is not waited for any longer: before the 5 s
// after which such a client gives up for good.
const retryAfter = 4 * time.Second

// old tells that an exchange is the heartbeat of a client of the original service.
func old(e *exchange.Exchange) bool {
	return e.Route.Operation == route.OperationHeartbeat && !bytes.Contains(e.Body, []byte(`"incarnation"`))
}

// Legacy answers 200 RETRY to heartbeats of clients of the original service where next
// answers with a status that may be another one later (5xx, 429, 408): they give up for good
// on any error status (wire contract, Rules). Those clients are known by a heartbeat without
// incarnation. What no repeat can heal, as 400 or 403, stays an error. It does nothing
// unless Config.LegacyRetry is set, and stands behind the stage that reads bodies.
func (p *Proxy) Legacy(next http.Handler) http.Handler {
	if !p.legacyRetry {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if e.Route.Operation != route.OperationHeartbeat {
			next.ServeHTTP(w, r)
			return
		}
		patient := &patient{ResponseWriter: w, of: e, reports: p.reports}
		next.ServeHTTP(patient, r)
		patient.finish()
	})
}

// patient holds back the answer of a heartbeat that an old client could not stand.
type patient struct {
	http.ResponseWriter

	of      *exchange.Exchange
	reports reports
	began   bool
	instead *protocol.HeartbeatResponse // the answer in place of the one held back
}

// WriteHeader implements http.ResponseWriter.
func (p *patient) WriteHeader(status int) {
	if status >= http.StatusOK && !p.began {
		p.began = true
		if passing(status) {
			p.instead = p.reports.retry(p.of)
		}
	}
	if p.instead == nil {
		p.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (p *patient) Write(data []byte) (int, error) {
	if !p.began {
		p.WriteHeader(http.StatusOK)
	}
	if p.instead != nil {
		return len(data), nil
	}
	return p.ResponseWriter.Write(data)
}

// FlushError sends what was written, but nothing of an answer that is held back.
func (p *patient) FlushError() error {
	if p.instead != nil {
		return nil
	}
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach deadlines.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *patient) finish() {
	if p.instead == nil {
		return
	}
	body, err := json.Marshal(p.instead)
	if err != nil {
		return // a struct of texts and numbers always has a JSON form
	}
	header := p.Header()
	header.Del("Retry-After")
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	p.ResponseWriter.WriteHeader(http.StatusOK)
	// Who has gone away reads no answer.
	_, _ = p.ResponseWriter.Write(body)
}

// passing tells whether an error may be gone at the next heartbeat.
func passing(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// retry returns what an old client is answered, nil for a heartbeat of another kind or of
// none that can be read.
func (r reports) retry(e *exchange.Exchange) *protocol.HeartbeatResponse {
	said, err := r.one.Decode(e.Body)
	if err != nil || said.Incarnation != "" {
		return nil
	}
	return &protocol.HeartbeatResponse{
		ResponseTo: said.RequestID, Status: protocol.StatusRetry, MemberID: e.Route.Member, MemberEpoch: said.MemberEpoch,
		HeartbeatIntervalMs: retryIntervalMs, RebalanceTimeoutMs: retryRebalanceMs,
		Assignment: protocol.Assignment{AssignedShards: []protocol.ShardID{}, PendingShards: []protocol.ShardID{}},
	}
}
