package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

const (
	// exportTimeout bounds one batch, tries again included.
	exportTimeout = 10 * time.Second
	// maxReason bounds what is logged of a receiver's complaint, in bytes.
	maxReason = 256
)

// exporter stands before the one that sends. It never fails for the SDK, which would print
// errors; it logs when the receiver begins to fail and when it is back.
type exporter struct {
	inner     sdk.SpanExporter
	transport *http.Transport
	secrets   []string
	log       *slog.Logger

	mu      sync.Mutex
	failing bool
	lost    int                // spans since it fails
	sending context.CancelFunc // of the batch that is being sent, or was last
	over    bool               // nothing is sent any more
}

func newExporter(cfg settings.Telemetry, log *slog.Logger) (*exporter, error) {
	endpoint, err := cfg.Endpoint()
	if err != nil {
		return nil, err
	}
	headers, err := cfg.Headers()
	if err != nil {
		return nil, err
	}
	e := &exporter{log: log, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
	}}
	for _, value := range headers {
		e.secrets = append(e.secrets, value)
	}
	e.inner = otlptrace.NewUnstarted(otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithHTTPClient(&http.Client{
			Transport: e.transport, Timeout: exportTimeout,
			// The headers are for the receiver, and not for where it points to.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: time.Second, MaxInterval: exportTimeout / 2, MaxElapsedTime: exportTimeout,
		})))
	return e, nil
}

// ExportSpans implements sdk.SpanExporter. It returns no error.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	e.begin(cancel)
	e.judged(e.inner.ExportSpans(ctx, spans), len(spans))
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(ctx context.Context) error { return e.inner.Shutdown(ctx) }

// begin notes how to end the batch that is to be sent, and ends it where nothing is sent any
// more. The SDK sends one batch at a time.
func (e *exporter) begin(cancel context.CancelFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sending = cancel
	if e.over {
		cancel()
	}
}

// cut ends what is being sent, and all that comes.
func (e *exporter) cut() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	if e.sending != nil {
		e.sending()
	}
}

// close ends the connections, after the last batch.
func (e *exporter) close() {
	e.cut()
	e.transport.CloseIdleConnections()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failing {
		e.log.Warn("traces were lost at the end", "spans", e.lost)
		e.failing = false
	}
}

// judged says what has changed.
func (e *exporter) judged(err error, spans int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil && e.failing:
		e.log.Info("traces are delivered again", "lostSpans", e.lost)
		e.failing, e.lost = false, 0
	case err != nil && !e.failing:
		e.log.Warn("traces cannot be delivered and are lost", "reason", e.reason(err))
		e.failing, e.lost = true, spans
	case err != nil:
		e.lost += spans
	}
}

// reason is what a receiver or the way to it says, without what it may repeat of the headers.
func (e *exporter) reason(err error) string {
	text := err.Error()
	for _, secret := range e.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "")
	}
	return text
}
