package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// Audit is what the audit knows of itself.
type Audit struct {
	// Waiting is how many records wait for the sink.
	Waiting int
	// Failures and Lost are how many tries to write failed, and how many records were lost, since
	// the start.
	Failures, Lost uint64
	// Failing tells that the last try failed.
	Failing bool
}

// Sources are what is asked when somebody looks. All are required.
type Sources struct {
	Audit func() Audit
	// InFlight is how many requests are under way by kind.
	InFlight func() map[string]int64
}

// Watch registers what the sources tell.
func Watch(registry prometheus.Registerer, from Sources) {
	registry.MustRegister(&watched{
		from:     from,
		waiting:  desc("audit_waiting", "Records of the audit that wait for its sink."),
		failures: desc("audit_failed_total", "Tries to write a record of the audit that failed."),
		lost:     desc("audit_lost_total", "Records of the audit that no sink has; they are in the log."),
		up:       desc("audit_sink_up", "1 when the last record of the audit was written, 0 when that failed."),
		inFlight: desc("gateway_in_flight", "Requests under way by the budget that they count for.", "kind"),
	})
}

// watched reads the sources once a scrape.
type watched struct {
	from                                  Sources
	waiting, failures, lost, up, inFlight *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (w *watched) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{w.waiting, w.failures, w.lost, w.up, w.inFlight} {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (w *watched) Collect(metrics chan<- prometheus.Metric) {
	audit := w.from.Audit()
	up := 1.0
	if audit.Failing {
		up = 0
	}
	metrics <- prometheus.MustNewConstMetric(w.waiting, prometheus.GaugeValue, float64(audit.Waiting))
	metrics <- prometheus.MustNewConstMetric(w.failures, prometheus.CounterValue, float64(audit.Failures))
	metrics <- prometheus.MustNewConstMetric(w.lost, prometheus.CounterValue, float64(audit.Lost))
	metrics <- prometheus.MustNewConstMetric(w.up, prometheus.GaugeValue, up)
	for kind, n := range w.from.InFlight() {
		metrics <- prometheus.MustNewConstMetric(w.inFlight, prometheus.GaugeValue, float64(n), kind)
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(telemetry.Namespace, "", name), help, labels, nil)
}
