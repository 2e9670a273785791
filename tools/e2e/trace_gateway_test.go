package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

const (
	serverSpan = tracepb.Span_SPAN_KIND_SERVER
	clientSpan = tracepb.Span_SPAN_KIND_CLIENT

	strangersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	strangersSpan  = "00f067aa0ba902b7"
	streamPattern  = "/coord/v1/streams/{streamPrefix}"
)

// strangers returns the headers of a caller with a trace of its own.
func strangers(trace, flags string) map[string]string {
	return map[string]string{
		"traceparent": "00-" + trace + "-" + strangersSpan + "-" + flags,
		"tracestate":  "vendor=value", "baggage": "secret=canary-baggage",
	}
}

// tracesTo returns the flags of a service that sends its traces to a receiver.
func tracesTo(endpoint string) []string { return []string{"--telemetry-traces-endpoint", endpoint} }

// monitoring, gateway (pipeline: trace): one trace id leads from the gateway over the
// coordinator to Redis, and nothing secret goes along.
func TestAChangeIsOneTraceFromTheGatewayToRedis(t *testing.T) {
	t.Parallel()
	receiver := startTraceReceiver(t)
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, coordinatorFlags: tracesTo(receiver.server.URL), gatewayFlags: tracesTo(receiver.server.URL),
	})
	token := g.login(userOps)
	create := createStream(token, "traced")
	create.header = strangers(strangersTrace, "00") // that it would rather not be recorded does not count
	create.header["X-Request-Id"] = "the-request"
	g.passes(create, http.StatusCreated)

	door := receiver.await(strangersTrace, "a span of the gateway", func(s tracedSpan) bool { return s.is("gateway", serverSpan) })
	behind := receiver.await(strangersTrace, "a span of the coordinator", func(s tracedSpan) bool { return s.is("coordinator", serverSpan) })
	between := receiver.await(strangersTrace, "the gateway's call", func(s tracedSpan) bool {
		return s.is("gateway", clientSpan) && s.text("peer.service") == "coordinator"
	})
	require.Equal(t, strangersSpan, door.parent())
	require.Equal(t, door.id(), between.parent())
	require.Equal(t, between.id(), behind.parent())
	for _, one := range []tracedSpan{door, between, behind} {
		require.Equal(t, "POST "+streamPattern, one.GetName())
		require.Equal(t, streamPattern, one.text("http.route"))
	}
	for _, one := range []tracedSpan{door, behind} {
		require.Equal(t, "the-request", one.text("rsc.request_id"))
		require.Equal(t, "traced", one.text("rsc.stream"))
	}
	receiver.await(strangersTrace, "Redis at the coordinator", func(s tracedSpan) bool {
		return s.is("coordinator", clientSpan) && s.text("db.system.name") == "redis" && s.parent() == behind.id()
	})
	receiver.await(strangersTrace, "the audit at the gateway", func(s tracedSpan) bool {
		return s.is("gateway", clientSpan) && s.text("db.system.name") == "redis" && s.parent() == door.id()
	})
	requireNothingSecret(t, g, receiver)
	requireOnlyRequestsBeginTraces(t, receiver)
	requireLogged(t, g)
}

// requireNothingSecret looks at every byte that the receiver got: for secrets (C9), for what
// the body says, and for keys of Redis.
func requireNothingSecret(t *testing.T, g *guarded, receiver *traceReceiver) {
	t.Helper()
	sent := receiver.everything()
	for _, text := range append([]string{"canary", "redis-stream:coord", "requestedBy", `"e2e"`, userOps + "\x00"}, g.tokens...) {
		require.NotContains(t, sent, text)
	}
	require.Contains(t, sent, "traced", "what is looked at is what was sent")
}

// What runs by itself makes no traces: every one begins with a request.
func requireOnlyRequestsBeginTraces(t *testing.T, receiver *traceReceiver) {
	t.Helper()
	for _, span := range receiver.all() {
		if span.parent() == "" {
			require.Equal(t, serverSpan, span.GetKind(), "%s of the %s has no parent", span.GetName(), span.service)
			require.NotContains(t, span.GetName(), "readyz")
		}
	}
}

// The access log names the trace that records a request.
func requireLogged(t *testing.T, g *guarded) {
	t.Helper()
	for _, one := range g.services() {
		require.Eventually(t, func() bool {
			for line := range strings.Lines(string(one.all.bytes())) {
				if strings.Contains(line, "requestId=the-request") && strings.Contains(line, "msg=request ") {
					return strings.Contains(line, "trace_id="+strangersTrace)
				}
			}
			return false
		}, patience, often, "%s logs the trace", one.name)
	}
}

// A gateway that records nothing hands on the trace of its caller all the same.
func TestAGatewayWithoutTracesHandsOnThoseOfItsCaller(t *testing.T) {
	t.Parallel()
	receiver := startTraceReceiver(t)
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 1, coordinatorFlags: tracesTo(receiver.server.URL)})
	create := createStream(g.login(userOps), "traced")
	create.header = strangers(strangersTrace, "00")
	g.passes(create, http.StatusCreated)
	behind := receiver.await(strangersTrace, "a span of the coordinator", func(s tracedSpan) bool { return s.is("coordinator", serverSpan) })
	require.Equal(t, strangersSpan, behind.parent())
	require.Equal(t, "vendor=value", behind.GetTraceState())
	require.Empty(t, only(receiver.all(), func(s tracedSpan) bool { return s.service == "gateway" }))
	require.NotContains(t, receiver.everything(), "canary")
}

// The share that is recorded is the gateway's to decide, not the caller's.
func TestAStrangerCannotHaveItsRequestsRecorded(t *testing.T) {
	t.Parallel()
	receiver := startTraceReceiver(t)
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, coordinatorFlags: tracesTo(receiver.server.URL),
		gatewayFlags: append(tracesTo(receiver.server.URL), "--telemetry-traces-ratio", "0"),
	})
	create := createStream(g.login(userOps), "traced")
	create.header = strangers(strangersTrace, "01")
	g.passes(create, http.StatusCreated)
	// A member of the inside may ask the coordinator to record.
	const inside = "0af7651916cd43dd8448eb211c80319c"
	_, err := g.send(g.coordinators[0], guardedCall{path: "/version", header: strangers(inside, "01")})
	require.NoError(t, err)
	receiver.await(inside, "a span of the coordinator", func(s tracedSpan) bool { return s.GetName() == "GET /version" })
	require.Empty(t, receiver.of(strangersTrace))
}
