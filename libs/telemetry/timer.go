package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// maxAge is how long at least a maximum is shown; it is gone after twice that.
const maxAge = time.Minute

// TimerOpts describe a timer.
type TimerOpts struct {
	// Name is without the namespace and without a unit, as "tick_duration".
	Name, Help string
	Labels     []string
	// Const are labels with one value for all series.
	Const prometheus.Labels
	// Quantiles adds 0.5, 0.95 and 0.99 over the last ten minutes.
	Quantiles bool
}

// Timer is a summary x_seconds with a gauge x_seconds_max beside it, as the dashboards of the
// original read timers. The maximum is that of the last one to two minutes; without an
// observation in them the gauge is left out. Its methods may be called concurrently.
type Timer struct {
	sums   *prometheus.SummaryVec
	max    *prometheus.Desc
	labels []string
	now    func() time.Time

	mu    sync.Mutex
	peaks map[string]*peak
}

// peak is the maximum of one series: of the window that began at since, and of the one before.
type peak struct {
	values       []string
	since        time.Time
	now, earlier float64 // seconds, negative for none
}

// NewTimer returns a timer; the caller registers it.
func NewTimer(opts TimerOpts) *Timer {
	name := prometheus.BuildFQName(Namespace, "", opts.Name+"_seconds")
	summary := prometheus.SummaryOpts{Name: name, Help: opts.Help, ConstLabels: opts.Const}
	if opts.Quantiles {
		summary.Objectives = map[float64]float64{0.5: 0.05, 0.95: 0.005, 0.99: 0.001}
	}
	return &Timer{
		sums: prometheus.NewSummaryVec(summary, opts.Labels),
		max: prometheus.NewDesc(name+"_max", "Longest of the last one to two minutes: "+opts.Help,
			opts.Labels, opts.Const),
		labels: opts.Labels, now: clock.Now, peaks: map[string]*peak{},
	}
}

// Observe takes one duration under the values of the labels, in their order. A wrong number of
// values is not counted.
func (t *Timer) Observe(took time.Duration, values ...string) {
	sum, err := t.sums.GetMetricWithLabelValues(values...)
	if err != nil {
		return
	}
	seconds := took.Seconds()
	sum.Observe(seconds)
	t.mu.Lock()
	defer t.mu.Unlock()
	key := strings.Join(values, "\xff")
	p := t.peaks[key]
	if p == nil {
		p = &peak{values: slices.Clone(values), since: t.now(), now: -1, earlier: -1}
		t.peaks[key] = p
	}
	p.turn(t.now())
	p.now = max(p.now, seconds)
}

// Forget takes out every series that has these values of these labels.
func (t *Timer) Forget(match prometheus.Labels) {
	t.sums.DeletePartialMatch(match)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.peaks, func(_ string, p *peak) bool { return t.matches(p.values, match) })
}

func (t *Timer) matches(values []string, match prometheus.Labels) bool {
	for name, want := range match {
		at := slices.Index(t.labels, name)
		if at < 0 || values[at] != want {
			return false
		}
	}
	return true
}

// Describe implements prometheus.Collector.
func (t *Timer) Describe(descs chan<- *prometheus.Desc) {
	t.sums.Describe(descs)
	descs <- t.max
}

// Collect implements prometheus.Collector.
func (t *Timer) Collect(metrics chan<- prometheus.Metric) {
	t.sums.Collect(metrics)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peaks {
		p.turn(t.now())
		if seconds := max(p.now, p.earlier); seconds >= 0 {
			metrics <- prometheus.MustNewConstMetric(t.max, prometheus.GaugeValue, seconds, p.values...)
		}
	}
}

// turn begins a new window when the current one is over.
func (p *peak) turn(now time.Time) {
	switch age := now.Sub(p.since); {
	case age < maxAge:
		return
	case age < 2*maxAge:
		p.earlier = p.now
	default:
		p.earlier = -1
	}
	p.now, p.since = -1, now
}
