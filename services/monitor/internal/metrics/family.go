package metrics

import "github.com/prometheus/client_golang/prometheus"

// namespace is what every name begins with.
const namespace = "redis_stream_coord"

// Labels.
const (
	labelStream  = "stream"
	labelGroup   = "group"
	labelMember  = "member"
	labelShard   = "shard"
	labelKey     = "stream_key"
	labelReason  = "reason"
	labelProblem = "problem"
	labelState   = "state"
)

// family is a metric: what it is called, what it means and what tells its series apart.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// families makes metrics and remembers them, so that all are described.
type families struct{ all []family }

func (f *families) gauge(name, help string, labels ...string) family {
	return f.add(prometheus.GaugeValue, name, help, labels)
}

func (f *families) counter(name, help string, labels ...string) family {
	return f.add(prometheus.CounterValue, name, help, labels)
}

func (f *families) add(kind prometheus.ValueType, name, help string, labels []string) family {
	made := family{prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil), kind}
	f.all = append(f.all, made)
	return made
}

func (f *families) describe(ch chan<- *prometheus.Desc) {
	for _, one := range f.all {
		ch <- one.desc
	}
}

// scrape takes the series of one scrape.
type scrape struct{ ch chan<- prometheus.Metric }

// put writes a series. One that cannot be written, because a label is no UTF-8, is left out:
// it would cost all the others.
func (s scrape) put(f family, value float64, labels ...string) {
	if metric, err := prometheus.NewConstMetric(f.desc, f.kind, value, labels...); err == nil {
		s.ch <- metric
	}
}

// known writes a series unless its value is unknown.
func known[N int64 | float64](s scrape, f family, value *N, labels ...string) {
	if value != nil {
		s.put(f, float64(*value), labels...)
	}
}

// seconds writes milliseconds as seconds, unless they are unknown.
func (s scrape) seconds(f family, ms *int64, labels ...string) {
	if ms != nil {
		s.put(f, float64(*ms)/1000, labels...)
	}
}

// flag writes 1 or 0.
func (s scrape) flag(f family, is bool, labels ...string) {
	value := 0.0
	if is {
		value = 1
	}
	s.put(f, value, labels...)
}
