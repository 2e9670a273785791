package tracectx_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
)

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	spanID  = "b7ad6b7169203331"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

func TestFieldsAreReadAndWrittenAsW3CTraceContext(t *testing.T) {
	t.Parallel()
	for _, fields := range []tracectx.Fields{
		{Parent: parent},
		{Parent: parent, State: "vendor=a,other@tenant=b"},
		{Parent: "00-" + traceID + "-" + spanID + "-00"},
	} {
		sc := fields.SpanContext(t.Context())
		require.Equal(t, traceID, sc.TraceID().String())
		require.Equal(t, spanID, sc.SpanID().String())
		require.True(t, sc.IsRemote())
		require.Equal(t, strings.HasSuffix(fields.Parent, "1"), sc.IsSampled())
		require.Equal(t, fields, tracectx.FromContext(trace.ContextWithSpanContext(t.Context(), sc)))
	}
	require.Zero(t, tracectx.FromContext(t.Context()))
}

func TestParentThatIsNoneCountsAsAbsent(t *testing.T) {
	t.Parallel()
	within := trace.ContextWithSpanContext(t.Context(), tracectx.Fields{Parent: parent}.SpanContext(t.Context()))
	for _, hostile := range []string{
		"", "7", "00", strings.ToUpper(parent), parent[:54], parent + "-1", parent + "\n", " " + parent,
		"ff" + parent[2:], "00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", "00-" + traceID + "-0000000000000000-01",
		strings.Repeat("\x00", 55), strings.Repeat("\xff", 55), "01" + parent[2:] + "-" + strings.Repeat("a", 10_000),
		strings.Repeat("a", 10_000), strings.Repeat("-", 1<<20),
	} {
		fields := tracectx.Fields{Parent: hostile, State: "vendor=a"}
		require.False(t, fields.SpanContext(within).IsValid(), "%.80q", hostile)
	}
}

func TestStateThatIsNoneCostsTheStateOnly(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"no pair", "a=b,a=c", "\x00=\x00", "\xff\xfe=b", strings.Repeat(",", 10_000), "a=" + strings.Repeat("b", 10_000),
		strings.Repeat("a=b,", 500),
	} {
		sc := tracectx.Fields{Parent: parent, State: hostile}.SpanContext(t.Context())
		require.Equal(t, traceID, sc.TraceID().String(), "%.80q", hostile)
		require.Zero(t, sc.TraceState().Len(), "%.80q", hostile)
	}
}

// A state of a stranger goes through an application into each of its records.
func TestStateThatIsTooLongIsNotWritten(t *testing.T) {
	t.Parallel()
	state := trace.TraceState{}
	for _, key := range []string{"a", "b", "c"} {
		var err error
		state, err = state.Insert(key, strings.Repeat("x", 250))
		require.NoError(t, err)
	}
	sc := tracectx.Fields{Parent: parent}.SpanContext(t.Context()).WithTraceState(state)
	require.Equal(t, tracectx.Fields{Parent: parent}, tracectx.FromContext(trace.ContextWithSpanContext(t.Context(), sc)))
}

func TestRequestGetsTheContextOfItsSpanInPlaceOfAnother(t *testing.T) {
	t.Parallel()
	header := http.Header{"Traceparent": {"another"}}
	tracectx.SetHeader(t.Context(), header)
	require.Equal(t, http.Header{"Traceparent": {"another"}}, header, "there is no span")
	fields := tracectx.Fields{Parent: parent, State: "vendor=a"}
	tracectx.SetHeader(trace.ContextWithSpanContext(t.Context(), fields.SpanContext(t.Context())), header)
	require.Equal(t, http.Header{"Traceparent": {parent}, "Tracestate": {"vendor=a"}}, header)
}

func TestDetachedContextHasNoSpanAndKeepsItsValues(t *testing.T) {
	t.Parallel()
	type key struct{}
	require.Equal(t, t.Context(), tracectx.Detach(t.Context()))
	ctx := trace.ContextWithSpanContext(t.Context(), tracectx.Fields{Parent: parent}.SpanContext(t.Context()))
	ctx = context.WithValue(ctx, key{}, "kept")
	ctx = tracectx.Detach(ctx)
	require.False(t, trace.SpanContextFromContext(ctx).IsValid())
	require.Equal(t, "kept", ctx.Value(key{}))
}

// A record or a call without a trace context has to cost nothing: 0 allocs/op.
func BenchmarkNoTraceContext(b *testing.B) {
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		_ = tracectx.Fields{}.SpanContext(ctx)
		_ = tracectx.FromContext(ctx)
		_ = tracectx.Detach(ctx)
	}
}

func BenchmarkTraceContext(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sc := tracectx.Fields{Parent: parent}.SpanContext(b.Context())
		_ = tracectx.FromContext(trace.ContextWithSpanContext(b.Context(), sc))
	}
}

// Whatever the fields hold: nothing panics, and what is read can be written and read again.
func FuzzTraceContext(f *testing.F) {
	f.Add(parent, "vendor=a")
	f.Add("cc-"+traceID+"-"+spanID+"-01-more", "a=b,,c=d")
	f.Add("00-"+traceID+"-"+spanID+"-\xff\xff", "\xff=\x00")
	f.Add(strings.Repeat("0-", 300), strings.Repeat(",", 300))
	f.Fuzz(func(t *testing.T, parent, state string) {
		sc := tracectx.Fields{Parent: parent, State: state}.SpanContext(t.Context())
		written := tracectx.FromContext(trace.ContextWithSpanContext(t.Context(), sc))
		if !sc.IsValid() {
			require.Zero(t, written)
			return
		}
		require.True(t, sc.IsRemote())
		require.Len(t, written.Parent, 55)
		require.LessOrEqual(t, len(written.State), 512)
		require.True(t, utf8.ValidString(written.State))
		require.True(t, sc.Equal(written.SpanContext(t.Context())))
	})
}
