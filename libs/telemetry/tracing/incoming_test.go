package tracing_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// handedOn returns the headers that a request to another service gets within a request.
func (s *scene) handedOn(header ...string) http.Header {
	s.t.Helper()
	out := http.Header{}
	s.ask(tracing.Requests{}, func(_ http.ResponseWriter, r *http.Request) {
		call := s.Call(r.Context(), tracing.Peer{Service: "coordinator", Address: "there:1", Method: "GET", Route: "/r"})
		call.HandOn(out)
		call.Answered(200, "")
	}, header...)
	return out
}

// gateway, pipeline: a stranger's trace id is kept; whether its trace is recorded is not its
// decision. Behind the edge the decision has been made.
func TestWhoDecidesWhetherATraceIsRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan     plan
		flags    string
		recorded bool
	}{
		{plan{edge: true, ratio: 1}, "00", true},
		{plan{edge: true, ratio: 1}, "01", true},
		{plan{edge: true, ratio: 0}, "00", false},
		{plan{edge: true, ratio: 0}, "01", false},
		{plan{ratio: 1}, "00", false},
		{plan{ratio: 1}, "01", true},
		{plan{ratio: 0}, "01", true},
		{plan{ratio: 0}, "00", false},
	} {
		s := start(t, c.plan)
		out := s.handedOn("Traceparent", parent(c.flags))
		said := strings.Split(out.Get("Traceparent"), "-")
		require.Len(t, said, 4)
		require.Equal(t, trace1, said[1], "the id is kept")
		require.Equal(t, c.recorded, said[3] == "01", "the decision is handed on: %v %v", c, said)
		all := s.spans()
		if !c.recorded {
			require.Empty(t, all, "%v", c)
			continue
		}
		require.Len(t, all, 2)
		call, served := all[0], all[1]
		require.Equal(t, span1, hexOf(served.GetParentSpanId()))
		require.Equal(t, served.GetSpanId(), call.GetParentSpanId())
		require.Equal(t, hexOf(call.GetSpanId()), said[2])
		require.Equal(t, trace1, hexOf(served.GetTraceId()))
	}
}

// A stranger chooses the trace id, so the draw must not go by it.
func TestTheDrawDoesNotGoByTheTraceID(t *testing.T) {
	t.Parallel()
	for _, off := range []bool{false, true} {
		s := start(t, plan{edge: true, ratio: 0.5, off: off})
		seen := map[string]int{}
		for range 200 {
			flags := strings.Split(s.handedOn("Traceparent", "00-00000000000000000000000000000001-"+span1+"-01").Get("Traceparent"), "-")[3]
			seen[flags]++
		}
		require.Len(t, seen, 2, "both happen: %v", seen)
	}
}

func TestWithoutTracesTheCallersIsHandedOn(t *testing.T) {
	t.Parallel()
	s := start(t, plan{off: true, ratio: 1})
	out := s.handedOn("Traceparent", parent("01"), "Tracestate", "a=b", "Baggage", "c=d")
	require.Equal(t, http.Header{"Traceparent": {parent("01")}, "Tracestate": {"a=b"}}, out)
	require.Empty(t, s.handedOn())
}

// What cannot be understood is not handed on raw: the next service might understand it.
func TestBrokenTracesAreNotHandedOn(t *testing.T) {
	t.Parallel()
	s := start(t, plan{off: true, ratio: 1})
	good := parent("01")
	for _, header := range [][]string{
		{"Traceparent", ""},
		{"Traceparent", "00-1-2-01"},
		{"Traceparent", good + "-more"},
		{"Traceparent", strings.ToUpper(good)},
		{"Traceparent", "ff" + good[2:]},
		{"Traceparent", "00-" + strings.Repeat("0", 32) + "-" + span1 + "-01"},
		{"Traceparent", "00-" + trace1 + "-" + strings.Repeat("0", 16) + "-01"},
		{"Traceparent", good + "\r\nX-Injected: 1"},
		{"Traceparent", strings.Repeat(good, 1000)},
		{"Traceparent", good, "Traceparent", good},
		{"Tracestate", "a=b"},
	} {
		require.Empty(t, s.handedOn(header...), "%q", header)
	}
	full := "k=" + strings.Repeat("v", 200) + ",l=" + strings.Repeat("w", 200) + ",m=" + strings.Repeat("x", 104)
	require.Len(t, full, 512)
	require.Equal(t, full, s.handedOn("Traceparent", good, "Tracestate", full).Get("Tracestate"))
	for _, state := range []string{strings.Repeat("k=v,", 1000) + "a=b", full + "x", "no state", "a=b,a=b", "a=b\n"} {
		require.Equal(t, http.Header{"Traceparent": {good}}, s.handedOn("Traceparent", good, "Tracestate", state), "%q", state)
	}
	require.Equal(t, http.Header{"Traceparent": {good}}, s.handedOn("Traceparent", good, "Tracestate", "a=b", "Tracestate", "c=d"))
}

// With traces a broken header begins a new one.
func TestABrokenTraceBeginsANewOne(t *testing.T) {
	t.Parallel()
	s := start(t, plan{edge: true, ratio: 1})
	s.ask(tracing.Requests{}, well, "Traceparent", "00-1-2-01")
	span := s.only()
	require.Empty(t, span.GetParentSpanId())
	require.NotEqual(t, trace1, hexOf(span.GetTraceId()))
}
