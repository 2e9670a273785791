package query

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// reference is $name, ${name} or ${name:format}.
var reference = regexp.MustCompile(`\$(?:\{(\w+)(?::(\w+))?\}|(\w+))`)

// Fill puts the values of variables into a text as Grafana does, those that begin with __
// included. It returns the names that have no value and that stay as they are.
func Fill(text string, values map[string]string) (filled string, missing []string) {
	filled = reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		name := parts[1] + parts[3]
		value, known := values[name]
		switch {
		case !known:
			missing = append(missing, name)
			return found
		case parts[2] == "percentencode":
			return strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		default:
			return value
		}
	})
	return filled, missing
}

// metricName is a name of the suite, or one that the Prometheus libraries give a process.
var metricName = regexp.MustCompile(`\b(?:redis_stream_coord|process|go)_[a-z0-9_]+\b`)

// Metrics returns the names of the metrics that an expression reads, sorted, each once.
func Metrics(expression string) []string {
	return slices.Compact(slices.Sorted(slices.Values(metricName.FindAllString(expression, -1))))
}
