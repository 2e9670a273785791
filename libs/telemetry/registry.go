package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

// NewRegistry returns the registry of one service, such as "coordinator". It holds the series of
// the Go runtime and of the process, and redis_stream_coord_build_info, which is always 1.
func NewRegistry(service string) *prometheus.Registry {
	build := settings.Build()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info",
		Help:        "Always 1; the labels say which build of which service this is.",
		ConstLabels: prometheus.Labels{"service": service, "version": build.Version, "commit": build.Commit},
	})
	info.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		info,
	)
	return registry
}
