package tracing_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

func TestACallTellsWhomItAskedAndWhatCameOfIt(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	s.ask(tracing.Requests{}, func(_ http.ResponseWriter, r *http.Request) {
		to := tracing.Peer{Service: "coordinator", Address: "there:1", Method: "POST", Route: "/r"}
		s.Call(r.Context(), to).Failed(errors.New("canary refused at there:1"))
		to.Try = 1
		s.Call(r.Context(), to).Answered(503, protocol.CodeOverloaded)
	})
	all := s.spans()
	require.Len(t, all, 3)
	for i, call := range all[:2] {
		require.Equal(t, "POST /r", call.GetName())
		require.Equal(t, tracepb.Span_SPAN_KIND_CLIENT, call.GetKind())
		require.Equal(t, "coordinator", attribute(call, "peer.service"))
		require.Equal(t, "there:1", attribute(call, "server.address"))
		require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, call.GetStatus().GetCode())
		require.Equal(t, i == 1, number(call, "http.request.resend_count") == 1)
	}
	require.Equal(t, "_OTHER", attribute(all[0], "error.type"))
	require.Equal(t, string(protocol.CodeOverloaded), attribute(all[1], "rsc.error_code"))
	require.NotContains(t, s.receiver.bytes(), "canary")
}

// What a service asks by itself begins no trace, also through a library with spans of its own.
func TestOnlyRequestsBeginTraces(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	tracer := s.Continuing().Tracer("library")
	ctx, alone := tracer.Start(t.Context(), "alone")
	require.False(t, alone.IsRecording())
	alone.End()
	require.False(t, s.Call(ctx, tracing.Peer{}).Traced())

	contexts := make(chan context.Context, 1)
	s.ask(tracing.Requests{}, func(_ http.ResponseWriter, r *http.Request) {
		contexts <- r.Context()
		_, within := tracer.Start(r.Context(), "within")
		within.End()
	})
	_, late := tracer.Start(<-contexts, "late")
	require.False(t, late.IsRecording(), "the request is over")
	require.True(t, late.SpanContext().IsValid(), "its trace is handed on all the same")
	late.End()
	all := s.spans()
	require.Len(t, all, 2)
	require.Equal(t, "within", all[0].GetName())
	require.Equal(t, all[1].GetSpanId(), all[0].GetParentSpanId())
}

// Two services in one process keep their spans apart.
func TestASpanOfAnotherServiceIsNotContinued(t *testing.T) {
	t.Parallel()
	s, other := start(t, plan{ratio: 1}), start(t, plan{ratio: 1})
	s.ask(tracing.Requests{}, func(_ http.ResponseWriter, r *http.Request) {
		other.Call(r.Context(), tracing.Peer{Service: "x"}).Answered(200, "")
	})
	require.Len(t, s.spans(), 1)
	require.Empty(t, other.spans())
}
