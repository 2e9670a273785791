package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

const (
	// scope names the instrumentation in what is exported.
	scope = "github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	// maxWaiting is how many spans wait for the receiver; those beyond are lost.
	maxWaiting = 4096
	// maxBatch is how many are sent at a time.
	maxBatch = 512
	// batchEvery is how long a span waits for others at most.
	batchEvery = 2 * time.Second
	// flushTime bounds what the end of a process waits for the receiver.
	flushTime = 3 * time.Second
	// maxAttribute bounds the text of one attribute, in bytes.
	maxAttribute = 256
)

// Service says whose spans they are.
type Service struct {
	// Name is that of the service, ID that of this start of it, Version that of its build.
	Name, ID, Version string
	// Edge marks a service that strangers reach: whether they want their requests recorded
	// does not count.
	Edge bool
}

// Tracing makes the spans of one service. A nil one makes none and hands nothing on. It is
// safe for concurrent use.
type Tracing struct {
	edge     bool
	ratio    float64
	provider *sdk.TracerProvider // nil where nothing is recorded
	tracer   trace.Tracer
	exporter *exporter
}

// New returns what records as the settings say; without an endpoint it records nothing. It
// does not connect yet. It fails where the settings are not valid. Close ends it.
func New(cfg settings.Telemetry, of Service, log *slog.Logger) (*Tracing, error) {
	t := &Tracing{edge: of.Edge, ratio: cfg.TracesRatio}
	if cfg.TracesEndpoint == "" {
		return t, nil
	}
	out, err := newExporter(cfg, httpx.Logger(log))
	if err != nil {
		return nil, fmt.Errorf("send traces: %w", err)
	}
	t.exporter = out
	t.provider = sdk.NewTracerProvider(
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", of.Name), attribute.String("service.instance.id", of.ID),
			attribute.String("service.version", of.Version),
		)),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(cfg.TracesRatio))),
		sdk.WithRawSpanLimits(limits()),
		sdk.WithBatcher(out, sdk.WithMaxQueueSize(maxWaiting), sdk.WithMaxExportBatchSize(maxBatch),
			sdk.WithBatchTimeout(batchEvery), sdk.WithExportTimeout(exportTimeout)),
	)
	t.tracer = t.provider.Tracer(scope)
	return t, nil
}

func limits() sdk.SpanLimits {
	bounds := sdk.NewSpanLimits()
	bounds.AttributeValueLengthLimit = maxAttribute
	return bounds
}

// On tells whether anything is recorded.
func (t *Tracing) On() bool { return t != nil && t.provider != nil }

// Close sends what waits and ends. It takes until ctx ends at most, and never longer than 3 s:
// a receiver that does not answer keeps no process from ending. What it has lost is logged. It
// may be called again.
func (t *Tracing) Close(ctx context.Context) {
	if !t.On() {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	// Shutdown would leave its goroutine behind when its context ends. Once the exporter is cut
	// off, all that waits fails at once.
	stop := context.AfterFunc(bounded, t.exporter.cut)
	defer stop()
	// The exporter reports its failures itself, and a second end is none.
	_ = t.provider.Shutdown(context.WithoutCancel(ctx))
	t.exporter.close()
}
