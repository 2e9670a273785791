package app

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// measure serves the metrics of all parts on one port. Without one the suite works as well, so
// a port in use is only said; nil then.
func measure(ctx context.Context, o Options, all http.Handler) *telemetry.Server {
	port, err := telemetry.Start(ctx, telemetry.Place{Key: "--metrics-addr", Address: o.MetricsAddr}, all, o.Log)
	switch {
	case err != nil:
		fmt.Fprintf(o.Out, "standalone: no metrics, %v\n", err)
	case port != nil:
		fmt.Fprintf(o.Out, "standalone: metrics on http://%s/metrics\n", port.Address())
	}
	return port
}
