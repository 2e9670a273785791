// Package telemetry is what the metrics of all services have in common: a registry with the
// process's own series, timers as the dashboards read them, and the small server of the
// metrics port, which is never the public one (monitor, Prometheus).
//
// There is no global registry: every app has its own, so that several run in one process. Merge
// puts theirs together for one port.
package telemetry

// Namespace is what the name of every metric of the suite begins with.
const Namespace = "redis_stream_coord"
