package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// State is how a coordinator is doing when somebody looks.
type State struct {
	// Up tells that nothing is wrong.
	Up bool
	// Unreadable is how many streams and groups fail closed (protocol M6), Stuck how many
	// streams are not taken further.
	Unreadable, Stuck int
}

// Watch registers what ask tells, which is asked once a scrape.
func Watch(registry prometheus.Registerer, id string, ask func() State) {
	prometheus.WrapRegistererWith(prometheus.Labels{"coordinator": id}, registry).MustRegister(&watched{
		ask:        ask,
		up:         desc("up", "1 when the coordinator is healthy, 0 when it is degraded."),
		unreadable: desc("metadata_unreadable", "Streams and groups whose metadata is lost or cannot be read; they fail closed."),
		stuck:      desc("resharding_stuck", "Streams that the coordinator tries in vain to take further."),
	})
}

type watched struct {
	ask                   func() State
	up, unreadable, stuck *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (w *watched) Describe(descs chan<- *prometheus.Desc) {
	descs <- w.up
	descs <- w.unreadable
	descs <- w.stuck
}

// Collect implements prometheus.Collector.
func (w *watched) Collect(metrics chan<- prometheus.Metric) {
	state, up := w.ask(), 0.0
	if state.Up {
		up = 1
	}
	metrics <- prometheus.MustNewConstMetric(w.up, prometheus.GaugeValue, up)
	metrics <- prometheus.MustNewConstMetric(w.unreadable, prometheus.GaugeValue, float64(state.Unreadable))
	metrics <- prometheus.MustNewConstMetric(w.stuck, prometheus.GaugeValue, float64(state.Stuck))
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(telemetry.Namespace, "", name), help, nil, nil)
}
