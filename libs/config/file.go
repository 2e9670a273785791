package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
)

// fromFile returns the settings of the YAML file. Keys are looked at section by section,
// so that a section of another service is never read.
func (l *loader) fromFile() (map[string]any, []error) {
	if l.source.File == "" {
		return nil, nil
	}
	data, err := os.ReadFile(l.source.File)
	if err != nil {
		return nil, []error{fmt.Errorf("configuration file: %w", err)}
	}
	tree, err := yaml.Parser().Unmarshal(data)
	if err != nil {
		return nil, []error{fmt.Errorf("configuration file %s: %s", l.source.File, withoutValues(err))}
	}
	f := fileReader{loader: l, references: references{environment: lookup(l.source.Environ)}, values: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		section, isSection := tree[key].(map[string]any)
		switch {
		case key == root && isSection:
			f.read("", section)
		case key == root && tree[key] == nil:
		case !l.foreign(key):
			f.problems = append(f.problems, l.unknown(key, key))
		}
	}
	return f.values, append(f.problems, f.references.problems...)
}

type fileReader struct {
	*loader

	references references
	values     map[string]any
	problems   []error
}

// read takes the keys of a section whose key is prefix.
func (f *fileReader) read(prefix string, section map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(section)) {
		key := strings.TrimPrefix(prefix+"."+name, ".")
		if _, known := f.find(key); known {
			f.values[key] = f.references.expand(key, section[name])
			continue
		}
		inner, isSection := section[name].(map[string]any)
		switch {
		case f.isSection(key) && isSection:
			f.read(key, inner)
		case f.isSection(key) && section[name] == nil: // "redis:" with nothing below
		case !f.foreign(key):
			f.problems = append(f.problems, f.unknown(root+"."+key, key))
		}
	}
}
