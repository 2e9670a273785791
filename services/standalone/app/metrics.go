package app

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// measurable is a part that counts what it does.
type measurable interface {
	Metrics() prometheus.Gatherer
}

// measure serves the metrics of all parts on one port. Without one the suite works as well, so
// a port in use is only said; nil then.
func measure(ctx context.Context, o Options, parts ...measurable) *telemetry.Server {
	gatherers := make([]prometheus.Gatherer, len(parts))
	for i, part := range parts {
		gatherers[i] = part.Metrics()
	}
	place := telemetry.Place{Key: "--metrics-addr", Address: o.MetricsAddr}
	port, err := telemetry.Start(ctx, place, telemetry.Handler(gatherers...), o.Log)
	switch {
	case err != nil:
		fmt.Fprintf(o.Out, "standalone: no metrics, %v\n", err)
	case port != nil:
		fmt.Fprintf(o.Out, "standalone: metrics on http://%s/metrics\n", port.Address())
	}
	return port
}
