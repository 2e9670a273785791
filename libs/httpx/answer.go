package httpx

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// retryAfterSeconds is the pause that a 429 or 503 asks for where the handler has set none.
const retryAfterSeconds = "1"

const internalText = "internal error, the server's log tells more under this request id"

// Answers writes answers and refusals in the shapes of the wire contract.
type Answers struct{ log *slog.Logger }

// NewAnswers returns Answers that log internal errors to log; nil discards them.
func NewAnswers(log *slog.Logger) Answers { return Answers{log: Logger(log)} }

// JSON answers with status and body as JSON. A body that cannot be encoded is
// answered as an internal error.
func (a Answers) JSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		a.Error(w, r, err)
		return
	}
	a.Bytes(w, r, status, data)
}

// Bytes answers with status and data, which is JSON already. Answers are not to be
// cached unless the handler has said otherwise before.
func (a Answers) Bytes(w http.ResponseWriter, r *http.Request, status int, data []byte) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(data)))
	header.Set("X-Content-Type-Options", "nosniff")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	w.WriteHeader(status)
	if _, err := w.Write(data); err != nil {
		a.log.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}

// Error answers with a refusal. A *protocol.Error in err's chain decides code, status
// and text; its cause stays here. Anything else is logged once and answered as
// INTERNAL_ERROR, without its text. A Retry-After that the header has already is kept, and so
// is a WWW-Authenticate; else a 401 asks for a bearer token.
func (a Answers) Error(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) {
		a.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", logPath(r), "error", err)
		refusal = protocol.Errorf(protocol.CodeInternal, internalText)
	} else if refusal.Cause != nil {
		a.log.DebugContext(r.Context(), "request refused", "code", refusal.Code, "error", err)
	}
	if n := noteOf(r.Context()); n != nil {
		n.refusal = refusal.Code
	}
	fault := protocol.FaultOf(refusal.Code)
	header := w.Header()
	later := fault.Status == http.StatusServiceUnavailable || fault.Status == http.StatusTooManyRequests
	if later && header.Get("Retry-After") == "" {
		header.Set("Retry-After", retryAfterSeconds)
	}
	if fault.Status == http.StatusUnauthorized && header.Get("WWW-Authenticate") == "" {
		header.Set("WWW-Authenticate", challenge)
	}
	header.Set("Cache-Control", "no-store")
	header.Del("ETag")
	a.JSON(w, r, fault.Status, protocol.ErrorResponse{
		Status: StatusName(fault.Status), ErrorCode: refusal.Code, Message: refusal.Message,
		RequestID: RequestID(r.Context()), Retriable: fault.Retriable,
	})
}

// StatusName returns the name of an HTTP status as ErrorResponse carries it, for
// example CONFLICT for 409.
func StatusName(status int) string {
	if status == http.StatusRequestEntityTooLarge {
		return "PAYLOAD_TOO_LARGE" // the name that the original service's framework gives it
	}
	return strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_", "'", "").Replace(http.StatusText(status)))
}
