package httpx

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// note is what is found out about a request while it is served, for those further outside who
// look at it afterwards. It belongs to the goroutine that serves the request.
type note struct {
	requestID string
	traceID   string
	refusal   protocol.Code
}

type noteKey struct{}

// noteOf returns nil where the request has not come through Identify.
func noteOf(ctx context.Context) *note {
	n, _ := ctx.Value(noteKey{}).(*note)
	return n
}

// NoteTrace names the trace that records the request of ctx. Every line that is logged of the
// request from then on carries it, the access log's too. It is called before the request
// reaches another goroutine, and does nothing outside of Identify.
func NoteTrace(ctx context.Context, traceID string) {
	if n := noteOf(ctx); n != nil {
		n.traceID = traceID
	}
}

// Refusal returns the code that the request of ctx was refused with by Answers.Error, or ""
// when it was not. It is for those who look when the answer is over.
func Refusal(ctx context.Context) protocol.Code {
	if n := noteOf(ctx); n != nil {
		return n.refusal
	}
	return ""
}
