package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// The types of metrics.
const (
	typeCounter = "counter"
	typeGauge   = "gauge"
	typeTimer   = "timer"
)

var (
	// errNotRegistry comes when a gatherer cannot say what is registered with it.
	errNotRegistry = errors.New("the metrics are no registry")
	// errDescription comes when a description is written in another way than expected.
	errDescription = errors.New("description cannot be read")
)

// metric is one line of the page.
type metric struct {
	name, kind, help string
	labels           []string
}

// registered returns the suite's own metrics of a registry, by name.
func registered(from prometheus.Gatherer) ([]metric, error) {
	registry, ok := from.(prometheus.Collector)
	if !ok {
		return nil, errNotRegistry
	}
	kinds, err := gathered(from)
	if err != nil {
		return nil, err
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		registry.Describe(descriptions)
	}()
	byName := map[string]metric{}
	var errs []error
	for d := range descriptions {
		one, err := parse(d.String())
		errs = append(errs, err)
		if strings.HasPrefix(one.name, telemetry.Namespace+"_") {
			byName[one.name] = one
		}
	}
	found := make([]metric, 0, len(byName))
	for name, one := range byName {
		_, timer := byName[name+"_max"]
		one.kind = kindOf(name, kinds[name], timer)
		found = append(found, one)
	}
	slices.SortFunc(found, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return found, errors.Join(errs...)
}

// gathered returns the types of those metrics that have series without anything having happened.
func gathered(from prometheus.Gatherer) (map[string]string, error) {
	families, err := from.Gather()
	if err != nil {
		return nil, fmt.Errorf("gather metrics: %w", err)
	}
	kinds := make(map[string]string, len(families))
	for _, family := range families {
		kinds[family.GetName()] = strings.ToLower(family.GetType().String())
	}
	return kinds, nil
}

// kindOf tells the type of a metric. A description does not; names do, in this suite.
func kindOf(name, seen string, timer bool) string {
	switch {
	case timer:
		return typeTimer
	case seen != "":
		return seen
	case strings.HasSuffix(name, "_total"):
		return typeCounter
	default:
		return typeGauge
	}
}

// parse reads a description as client_golang writes it out, which is its only way to tell.
func parse(text string) (metric, error) {
	form := regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"),.* constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)
	parts := form.FindStringSubmatch(text)
	if parts == nil {
		return metric{}, fmt.Errorf("%w: %s", errDescription, text)
	}
	name, err := strconv.Unquote(parts[1])
	help, err2 := strconv.Unquote(parts[2])
	if err := errors.Join(err, err2); err != nil {
		return metric{}, fmt.Errorf("%w: %s: %w", errDescription, text, err)
	}
	var labels []string
	for _, pair := range regexp.MustCompile(`(\w+)="(?:[^"\\]|\\.)*"`).FindAllStringSubmatch(parts[3], -1) {
		labels = append(labels, pair[1])
	}
	if parts[4] != "" {
		labels = append(labels, strings.Split(parts[4], ",")...)
	}
	return metric{name: name, help: help, labels: labels}, nil
}
