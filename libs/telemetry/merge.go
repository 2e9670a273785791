package telemetry

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// errTypes comes when two services give one name to metrics of different types.
var errTypes = errors.New("one name has two types")

// Merge returns one gatherer of all that the given ones have. Series that several have, as the
// Go runtime's when services share a process, are taken from the first. Like any gatherer it may
// return families and an error together: what is good is there.
func Merge(gatherers ...prometheus.Gatherer) prometheus.Gatherer {
	if len(gatherers) == 1 {
		return gatherers[0]
	}
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return merge(gatherers) })
}

func merge(gatherers []prometheus.Gatherer) ([]*dto.MetricFamily, error) {
	var errs []error
	var order []*dto.MetricFamily
	byName, seen := map[string]*dto.MetricFamily{}, map[string]struct{}{}
	for i, gatherer := range gatherers {
		families, err := gatherer.Gather()
		if err != nil {
			errs = append(errs, fmt.Errorf("gather part %d: %w", i, err))
		}
		for _, family := range families {
			kept, is := byName[family.GetName()]
			switch {
			case !is:
				kept = &dto.MetricFamily{Name: family.Name, Help: family.Help, Type: family.Type, Unit: family.Unit}
				byName[family.GetName()] = kept
				order = append(order, kept)
			case kept.GetType() != family.GetType():
				errs = append(errs, fmt.Errorf("%s: %w", family.GetName(), errTypes))
				continue
			}
			kept.Metric = append(kept.Metric, fresh(seen, family)...)
		}
	}
	slices.SortFunc(order, func(a, b *dto.MetricFamily) int { return strings.Compare(a.GetName(), b.GetName()) })
	return order, errors.Join(errs...)
}

// fresh returns the series of family that are not in seen yet, and notes them there.
func fresh(seen map[string]struct{}, family *dto.MetricFamily) []*dto.Metric {
	var found []*dto.Metric
	for _, metric := range family.GetMetric() {
		key := identity(family.GetName(), metric)
		if _, is := seen[key]; is {
			continue
		}
		seen[key] = struct{}{}
		found = append(found, metric)
	}
	return found
}

// identity tells series apart. Label values are any valid UTF-8, so the byte 0xFF separates.
func identity(name string, metric *dto.Metric) string {
	var key strings.Builder
	key.WriteString(name)
	for _, label := range metric.GetLabel() {
		key.WriteByte(0xFF)
		key.WriteString(label.GetName())
		key.WriteByte(0xFF)
		key.WriteString(label.GetValue())
	}
	return key.String()
}
