package main

import (
	"fmt"
	"slices"
	"strings"
)

const head = `# Metrics

<!-- Written by tools/metricsdoc (make generate) from what the services register. -->

Every service serves its metrics on a port of its own, at ` + "`/metrics`" + ` and ` + "`/actuator/prometheus`" + `, without
credentials: keep it away from the outside. An empty setting has no such port. The standalone
serves those of all its parts at ` + "`--metrics-addr`" + ` (127.0.0.1:9080). Every service also has the
` + "`go_*`" + ` and ` + "`process_*`" + ` series of its process.

- What is not known has no series; it is never 0.
- A stream or group that is gone loses its series. No label holds a request id or a record id, and
  no name becomes a label before a service has found it to exist; until then it is ` + "`none`" + `.
- A timer ` + "`x_seconds`" + ` is a summary with ` + "`x_seconds_count`" + ` and ` + "`x_seconds_sum`" + `, some with quantiles, and has the
  longest of the last one to two minutes in the gauge ` + "`x_seconds_max`" + `.
- Members, groups and shards are shown by the monitor only, ` + "`api_request_*`" + ` by the gateway only, and
  coordinators count their own work, so that a sum over all counts nothing twice.
`

// page returns the text of docs/metrics.md.
func page(of []service) string {
	var text strings.Builder
	text.WriteString(head)
	shared := common(of)
	table(&text, "All services", shared)
	for _, s := range of {
		own := slices.DeleteFunc(slices.Clone(s.metrics), func(m metric) bool { return contains(shared, m.name) })
		table(&text, fmt.Sprintf("%s (%#q)", s.name, s.place), own)
	}
	return text.String()
}

// common returns the metrics that all services have.
func common(of []service) []metric {
	var shared []metric
	for _, m := range of[0].metrics {
		if !slices.ContainsFunc(of, func(s service) bool { return !contains(s.metrics, m.name) }) {
			shared = append(shared, m)
		}
	}
	return shared
}

func contains(metrics []metric, name string) bool {
	return slices.ContainsFunc(metrics, func(m metric) bool { return m.name == name })
}

func table(text *strings.Builder, title string, metrics []metric) {
	fmt.Fprintf(text, "\n## %s\n\n| Name | Type | Labels | Meaning |\n|---|---|---|---|\n", title)
	for _, m := range metrics {
		if base, is := strings.CutSuffix(m.name, "_max"); is && contains(metrics, base) {
			continue // told with its timer
		}
		labels := "-"
		if len(m.labels) > 0 {
			labels = strings.Join(m.labels, ", ")
		}
		fmt.Fprintf(text, "| `%s` | %s | %s | %s |\n", m.name, m.kind, labels, strings.ReplaceAll(m.help, "|", `\|`))
	}
}
