package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
)

// table tells whether the leaf is a list of structs.
func (l leaf) table() bool {
	return l.value.Kind() == reflect.Slice && l.value.Type().Elem().Kind() == reflect.Struct
}

// setTable takes a list of elements with settings by name. The default stays where one
// cannot be read; every problem is told.
func (l leaf) setTable(from any) error {
	elements, isList := from.([]any)
	if !isList {
		return fmt.Errorf("%s must be a list, each element with settings by name", l.key)
	}
	table := reflect.MakeSlice(l.value.Type(), len(elements), len(elements))
	var problems []error
	for i, element := range elements {
		problems = append(problems, setElement(fmt.Sprintf("%s[%d]", l.key, i), table.Index(i), element)...)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	l.value.Set(table)
	return nil
}

// setElement fills the struct of one element, whose key is prefix.
func setElement(prefix string, into reflect.Value, from any) []error {
	given, isElement := from.(map[string]any)
	if !isElement {
		return []error{fmt.Errorf("%s must be settings by name", prefix)}
	}
	settings := walk(into, prefix, nil)
	known := make([]string, len(settings))
	for i, setting := range settings {
		known[i] = setting.key
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		key := prefix + "." + name
		i := slices.Index(known, key)
		if i < 0 {
			problems = append(problems, fmt.Errorf("%s is not a known key, the nearest is %s", key, nearest(key, known)))
			continue
		}
		if err := settings[i].set(given[name]); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// tableFile reads a table from a file of its own, a YAML list, which name points to.
func (l *loader) tableFile(setting leaf, name, path string) (any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var list any
	if err := yaml.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: file is not YAML: %s", name, withoutValues(err))
	}
	references := references{environment: lookup(l.source.Environ)}
	expanded := references.expand(setting.key, list)
	return expanded, errors.Join(references.problems...)
}

// printableTable returns the elements as maps, secrets masked.
func printableTable(setting leaf) []any {
	elements := make([]any, setting.value.Len())
	for i := range elements {
		element := map[string]any{}
		for _, inner := range leaves(setting.value.Index(i)) {
			element[inner.key] = printable(inner)
		}
		elements[i] = element
	}
	return elements
}

// source names the variable by which the leaf is set, for texts.
func (l leaf) source() string {
	if l.table() {
		return l.env() + fileSuffix
	}
	return l.env()
}
