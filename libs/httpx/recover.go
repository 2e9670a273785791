package httpx

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Recover turns a panic of next into INTERNAL_ERROR, logged with its stack. When the
// answer has begun already the connection is cut, so that no caller takes a part of
// an answer for the whole.
func (a Answers) Recover(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		defer a.recovered(rec, r)
		next.ServeHTTP(rec, r)
	})
}

// recovered is deferred itself, as recover asks for.
func (a Answers) recovered(rec *recorder, r *http.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	if err, isErr := reason.(error); isErr && errors.Is(err, http.ErrAbortHandler) {
		abort()
	}
	a.log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "path", logPath(r),
		"reason", fmt.Sprint(reason), "stack", string(debug.Stack()))
	if rec.status != 0 {
		abort()
	}
	a.Error(rec, r, protocol.Errorf(protocol.CodeInternal, internalText))
}

// abort cuts the connection; net/http keeps this one panic value for it and logs nothing.
func abort() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // the only way that works for HTTP/1 and HTTP/2
}
