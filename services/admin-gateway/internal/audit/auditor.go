package audit

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// OnFailure is what happens to mutations while the sink is away (audit.on-failure).
type OnFailure string

// The policies.
const (
	// Refuse sends no mutation whose intent is not written.
	Refuse OnFailure = "refuse"
	// Buffer keeps records in memory within a bound, and refuses beyond it. They are lost if
	// the gateway is killed.
	Buffer OnFailure = "buffer"
)

// Config is what an Auditor needs to know.
type Config struct {
	// GatewayID names this gateway in its records.
	GatewayID string
	// OnFailure is Refuse or Buffer; anything else counts as Refuse.
	OnFailure OnFailure
	// Buffer is how many records may wait for the sink, under either policy, half of it those
	// of requests that were refused; below 1 counts as 1. Outcomes of mutations that were sent wait also beyond it, which the number of
	// requests under way bounds.
	Buffer int
	// Timeout bounds one try to write a record; above 0.
	Timeout time.Duration
}

// Auditor records mutations. It is safe for concurrent use and ends with Close.
type Auditor struct {
	config  Config
	box     *outbox
	reader  Reader
	answers httpx.Answers
	now     func() time.Time
}

// New returns an Auditor that writes to sink and answers queries from reader, which is nil
// for a sink that keeps nothing to read. A nil log discards.
func New(config Config, sink Sink, reader Reader, now func() time.Time, log *slog.Logger) *Auditor {
	log = httpx.Logger(log)
	return &Auditor{
		config: config, box: newOutbox(sink, config, now, log), reader: reader, answers: httpx.NewAnswers(log), now: now,
	}
}

// Close writes what still waits for the sink, for as long as ctx lives; the server has ended
// before. What cannot be written is in the log then, and the error wraps ErrLost.
func (a *Auditor) Close(ctx context.Context) error { return a.box.close(ctx) }

// Waiting returns how many records wait for the sink.
func (a *Auditor) Waiting() int {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	return len(a.box.waiting)
}

// Counts are what a look at the audit tells.
type Counts struct {
	// Waiting is how many records wait for the sink now.
	Waiting int
	// Failures are the tries that failed, Lost the records that are in the log only, since the
	// start.
	Failures, Lost uint64
	// Failing tells that the last try failed.
	Failing bool
}

// Counts returns how the audit is doing.
func (a *Auditor) Counts() Counts {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	return Counts{Waiting: len(a.box.waiting), Failures: a.box.failures, Lost: a.box.lost, Failing: a.box.failing}
}

// Surround is the stage that records how each mutation ended, refused ones included, before
// the caller is told (C8). It writes also when next panics, and when the caller is gone.
func (a *Auditor) Surround(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if !e.Route.Mutation {
			next.ServeHTTP(w, r)
			return
		}
		answer := &held{ResponseWriter: w, commit: func(status int, body []byte) {
			if status == 0 && r.Context().Err() == nil {
				status = http.StatusOK
			}
			a.conclude(r, e, ending{status: status, body: body})
		}}
		ended := false
		defer func() {
			if !ended && !answer.released { // next panicked; what it had said is not sent
				a.conclude(r, e, ending{status: http.StatusInternalServerError, broken: true})
			}
		}()
		next.ServeHTTP(answer, r)
		ended = true
		answer.release()
	})
}

func (a *Auditor) conclude(r *http.Request, e *exchange.Exchange, end ending) {
	a.box.conclude(r.Context(), outcomeOf(r, e, end, a.config.GatewayID, a.now()))
}

// Intend is the stage that records that a mutation is about to be sent. It refuses with
// AUDIT_UNAVAILABLE where the record cannot be written or kept.
func (a *Auditor) Intend(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if !e.Route.Mutation {
			next.ServeHTTP(w, r)
			return
		}
		if err := a.box.intend(r.Context(), intentOf(r, e, a.config.GatewayID, a.now())); err != nil {
			e.Code = protocol.CodeAuditUnavailable
			a.answers.Error(w, r, protocol.Errorf(e.Code, "the audit cannot be written, so nothing was changed").Because(err))
			return
		}
		e.Intended = true
		next.ServeHTTP(w, r)
	})
}
