package metrics

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// none stands for a stream and group that nobody knows.
const none = "none"

// reconcile is the one reason of a rebalance: the wanted assignment has changed.
const reconcile = "reconcile"

// Metrics are a coordinator's counters. They are safe for concurrent use.
type Metrics struct {
	heartbeats, expired, rebalances, rounds, ahead, changes *prometheus.CounterVec
	scales, scalesFailed, routings, routingsStale           *prometheus.CounterVec
	ticks, conflicts, commits, writesFailed, busy           *prometheus.CounterVec

	rebalanceTime, tickTime, writeTime *telemetry.Timer
	batch                              prometheus.Histogram

	changedByTime atomic.Bool // a group, since the last tick

	mu      sync.Mutex
	groups  map[store.Key]bool // those with series
	streams map[string]bool    // those with series of their own
}

// New returns counters that are registered with registry. id is that of this coordinator.
func New(registry prometheus.Registerer, id string) *Metrics {
	m := &Metrics{groups: map[store.Key]bool{}, streams: map[string]bool{}}
	m.countGroups()
	m.countOwn()
	registry = prometheus.WrapRegistererWith(prometheus.Labels{"coordinator": id}, registry)
	for _, vec := range slices.Concat(m.ofGroups(), m.ofStreams()) {
		registry.MustRegister(vec)
	}
	registry.MustRegister(m.rebalanceTime, m.ticks, m.conflicts, m.commits, m.writesFailed, m.busy, m.tickTime, m.writeTime, m.batch)
	m.busy.WithLabelValues() // what has not happened is 0, and shown
	return m
}

// countGroups makes the counters that have a stream and a group.
func (m *Metrics) countGroups() {
	m.heartbeats = ofGroup("heartbeat_total", "Heartbeats that were answered, by the verdict.", "status")
	m.expired = ofGroup("member_expired_total", "Members whose lease ran out.")
	m.rebalances = ofGroup("rebalance_total", "Changes of the wanted assignment.", "reason")
	m.rounds = ofGroup("correction_round_total", "Correction rounds that were opened: the store lost writes, or an operator asked for one.")
	m.ahead = ofGroup("client_ahead_total", "Heartbeats that follow a newer version of the group than the store has.")
	m.changes = ofGroup("group_change_total", "What happened in structural commits, by the flight recorder's cause.", "cause")
	m.scales = ofGroup("scale_request_total", "Requests for another shard count; group is the stream, which is scaled as a whole.", "status")
	m.scalesFailed = ofGroup("scale_request_failed_total", "Requests for another shard count that were refused or failed.", "status")
	m.routings = ofGroup("producer_routing_request_total", "Requests of producers for where to write.", "status")
	m.routingsStale = ofGroup("producer_routing_stale_total", "Requests of producers whose routing was not the present one any more.")
	m.rebalanceTime = telemetry.NewTimer(telemetry.TimerOpts{
		Name: "rebalance_duration", Help: "Seconds to decide and store a change of the wanted assignment.",
		Labels: []string{"stream", "group", "reason"},
	})
}

// countOwn makes those of the coordinator as a whole.
func (m *Metrics) countOwn() {
	m.ticks = counters("tick_total", "Looks for what time has made due, by whether a group was changed by the one before.", "changed")
	m.tickTime = telemetry.NewTimer(telemetry.TimerOpts{
		Name: "tick_duration", Help: "Seconds in which a tick finds what is due and hands it to its groups.", Labels: []string{"changed"},
	})
	m.conflicts = counters("state_conflict_total", "Changes that another coordinator was faster than, by try; 10 is any later one.", "operation", "attempt")
	m.commits = counters("state_commit_total", "Writes of metadata that the store has taken.", "operation")
	m.writesFailed = counters("state_write_failed_total", "Writes of metadata that the store has not taken, conflicts excepted.", "operation")
	m.writeTime = telemetry.NewTimer(telemetry.TimerOpts{
		Name: "state_write_duration", Help: "Seconds of a write of metadata, failed ones included.", Labels: []string{"operation"}, Quantiles: true,
	})
	m.busy = counters("state_mutex_busy_total", "Changes that were refused because another one of the stream is under way.")
	m.batch = prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: telemetry.Namespace, Name: "heartbeat_batch_size", Help: "Heartbeats in one write of metadata.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 8),
	})
}

// ofGroups are the counters whose series end with their group.
func (m *Metrics) ofGroups() []*prometheus.CounterVec {
	return []*prometheus.CounterVec{
		m.heartbeats, m.expired, m.rebalances, m.rounds, m.ahead, m.changes, m.routings, m.routingsStale,
	}
}

// ofStreams are the counters whose series end with their stream.
func (m *Metrics) ofStreams() []*prometheus.CounterVec {
	return []*prometheus.CounterVec{m.scales, m.scalesFailed}
}

// know makes a group's names labels.
func (m *Metrics) know(key store.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.groups[key], m.streams[key.Stream] = true, true
}

// labelled returns the labels of a group, none for one that nobody knows.
func (m *Metrics) labelled(key store.Key) (stream, group string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups[key] {
		return key.Stream, key.Group
	}
	return none, none
}

// Deleted takes a group's series out.
func (m *Metrics) Deleted(key store.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropGroup(key)
}

// Listed takes the series of groups and streams out that the store does not name.
func (m *Metrics) Listed(keys []store.Key) {
	groups, streams := make(map[store.Key]bool, len(keys)), make(map[string]bool)
	for _, key := range keys {
		groups[key], streams[key.Stream] = true, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.groups {
		if !groups[key] {
			m.dropGroup(key)
		}
	}
	for stream := range m.streams {
		if !streams[stream] {
			m.dropStream(stream)
		}
	}
}

func (m *Metrics) dropGroup(key store.Key) {
	delete(m.groups, key)
	match := prometheus.Labels{"stream": key.Stream, "group": key.Group}
	for _, vec := range m.ofGroups() {
		vec.DeletePartialMatch(match)
	}
	m.rebalanceTime.Forget(match)
}

func (m *Metrics) dropStream(stream string) {
	delete(m.streams, stream)
	for _, vec := range m.ofStreams() {
		vec.DeletePartialMatch(prometheus.Labels{"stream": stream})
	}
}

func ofGroup(name, help string, more ...string) *prometheus.CounterVec {
	return counters(name, help, append([]string{"stream", "group"}, more...)...)
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: telemetry.Namespace, Name: name, Help: help}, labels)
}
