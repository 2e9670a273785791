package main

import (
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	console "github.com/redis-stream-coordinator/rsc/web/app"
)

// service is one that reads settings.
type service struct {
	name     string
	settings []config.Setting
}

func services() []service {
	return []service{
		{"coordinator", config.Describe(coordinator.DefaultConfig())},
		{"gateway", config.Describe(gateway.DefaultConfig())},
		{"monitor", config.Describe(monitor.DefaultConfig())},
		{"console", config.Describe(console.DefaultConfig())},
	}
}

// told is what some services say of a setting, all the same.
type told struct {
	by   []string
	text string
}

// setting is one key with all who read it.
type setting struct {
	config.Setting

	readers []string
	usages  []told
	values  []told // of the default
}

// merged returns the settings of all services by section, in the order in which services come
// to have them; those without a section come first.
func merged(of []service) []setting {
	var all []setting
	for _, s := range of {
		for _, one := range s.settings {
			i := slices.IndexFunc(all, func(known setting) bool { return known.Key == one.Key })
			if i < 0 {
				i = len(all)
				all = append(all, setting{Setting: one})
			}
			all[i].readers = append(all[i].readers, s.name)
			all[i].usages = tell(all[i].usages, s.name, one.Usage)
			all[i].values = tell(all[i].values, s.name, one.Default)
		}
	}
	var sections []string
	for _, one := range all {
		if section := one.section(); !slices.Contains(sections, section) {
			sections = append(sections, section)
		}
	}
	slices.SortStableFunc(all, func(a, b setting) int {
		return slices.Index(sections, a.section()) - slices.Index(sections, b.section())
	})
	return all
}

func tell(so []told, by, text string) []told {
	for i := range so {
		if so[i].text == text {
			so[i].by = append(so[i].by, by)
			return so
		}
	}
	return append(so, told{by: []string{by}, text: text})
}

// section is the first part of the key, empty where it has one only.
func (s setting) section() string {
	section, _, nested := strings.Cut(s.Key, ".")
	if !nested {
		return ""
	}
	return section
}

// usage is the meaning, by service where they differ.
func (s setting) usage() string { return joined(s.usages, "; ") }

func joined(all []told, between string) string {
	if len(all) == 1 {
		return all[0].text
	}
	parts := make([]string, len(all))
	for i, one := range all {
		parts[i] = strings.Join(one.by, ", ") + ": " + one.text
	}
	return strings.Join(parts, between)
}

// short writes a duration without the parts that are 0.
func short(kind, value string) string {
	if kind != "duration" {
		return value
	}
	for _, end := range []struct{ long, short string }{{"m0s", "m"}, {"h0m", "h"}} {
		if head, is := strings.CutSuffix(value, end.long); is {
			value = head + end.short
		}
	}
	return value
}
