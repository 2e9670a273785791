package tracing

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The attributes that more than one kind of span has.
const (
	keyMethod  = attribute.Key("http.request.method")
	keyRoute   = attribute.Key("http.route")
	keyStatus  = attribute.Key("http.response.status_code")
	keyError   = attribute.Key("error.type")
	keyRequest = attribute.Key("rsc.request_id")
	keyCode    = attribute.Key("rsc.error_code")
)

// About is what a service knows of a request.
type About struct {
	// Route is the pattern of the path with the names of its parameters; empty where there is
	// no such endpoint.
	Route string
	// Stream and Group are those that the request names, empty where it names none. They may
	// be anything that a caller has sent.
	Stream, Group string
}

// Requests says what a service knows of its requests.
type Requests struct {
	// About is asked when the request has been answered.
	About func(*http.Request) About
	// Skip tells which requests are not recorded, such as those of probes; nil skips none. It
	// is asked before anything else.
	Skip func(*http.Request) bool
}

// Handler records every request that next serves, within the trace that the request names.
// The span is called after method and route, never after a path. It stands inside of
// httpx.Identify, whose id the span carries and whose log lines get the trace's, and fills in
// r.Pattern of the request that it was given.
func (t *Tracing) Handler(of Requests) func(next http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		switch {
		case t == nil:
			return next
		case !t.On():
			return t.handing(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if of.Skip != nil && of.Skip(r) {
				next.ServeHTTP(w, r)
				return
			}
			t.serve(w, r, next, of)
		})
	}
}

// handing records nothing, but lets what is asked of others belong to the same trace.
func (t *Tracing) handing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, named := r.Header[headerParent]; !named {
			next.ServeHTTP(w, r)
			return
		}
		inner := r.WithContext(t.incoming(r.Context(), r.Header))
		defer func() { r.Pattern = inner.Pattern }()
		next.ServeHTTP(w, inner)
	})
}

func (t *Tracing) serve(w http.ResponseWriter, r *http.Request, next http.Handler, of Requests) {
	method := methodOf(r)
	ctx, span := t.tracer.Start(t.incoming(r.Context(), r.Header), method, trace.WithSpanKind(trace.SpanKindServer))
	inner := r.WithContext(ctx)
	if !span.IsRecording() {
		defer func() { r.Pattern = inner.Pattern }()
		next.ServeHTTP(w, inner)
		return
	}
	httpx.NoteTrace(ctx, span.SpanContext().TraceID().String())
	watched, status := httpx.Watch(w)
	finished := false
	defer func() {
		r.Pattern = inner.Pattern
		answered := status()
		switch {
		case !finished:
			answered = http.StatusInternalServerError // it panics; whoever recovers stands outside
		case answered == 0:
			answered = http.StatusOK // as net/http answers for a handler that says nothing
		}
		describe(span, method, of.About(inner))
		judge(span, answered, httpx.Refusal(ctx))
		span.SetAttributes(keyRequest.String(httpx.RequestID(ctx)))
		span.End()
	}()
	next.ServeHTTP(watched, inner)
	finished = true
}

func describe(span trace.Span, method string, about About) {
	span.SetName(nameOf(method, about.Route))
	attributes := make([]attribute.KeyValue, 0, 4)
	attributes = append(attributes, keyMethod.String(method))
	if about.Route != "" {
		attributes = append(attributes, keyRoute.String(about.Route))
	}
	if presentable(about.Stream) {
		attributes = append(attributes, attribute.String("rsc.stream", about.Stream))
	}
	if presentable(about.Group) {
		attributes = append(attributes, attribute.String("rsc.group", about.Group))
	}
	span.SetAttributes(attributes...)
}

// presentable tells whether a name that a caller has sent can be in a span. One text that is no
// UTF-8 would keep the whole batch from being sent.
func presentable(name string) bool {
	return name != "" && len(name) <= maxAttribute && utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
}

// judge sets what a request came to. Refusals of what a caller asks (4xx) are no errors of the
// service.
func judge(span trace.Span, status int, refusal protocol.Code) {
	span.SetAttributes(keyStatus.Int(status))
	if refusal != "" {
		span.SetAttributes(keyCode.String(string(refusal)))
	}
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
}

func nameOf(method, route string) string {
	if route == "" {
		return method
	}
	return method + " " + route
}

// methodOf returns the method of a request, or _OTHER for one that HTTP does not know: names
// of spans are few.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	default:
		return "_OTHER"
	}
}
