package config

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// ErrInvalid is wrapped by the error of Load; the text lists every problem.
var ErrInvalid = errors.New("configuration is not valid")

// Source says where settings come from. The zero value gives the defaults.
type Source struct {
	// File is the path of a YAML file; empty reads none.
	File string
	// Environ holds NAME=value entries, as os.Environ returns them.
	Environ []string
	// Flags is a set that Flags has filled and that has been parsed; nil has none.
	Flags *pflag.FlagSet
	// Ignore names sections that belong to other services of the suite, for example
	// "audit". Keys of such a section that the struct does not have are not looked at.
	Ignore []string
}

// Validator is a struct that tells everything that is wrong with its values, and names the
// keys.
type Validator interface{ Validate() error }

// Load returns defaults with what the source says on top. The error lists every problem of
// every layer and what Validate says; values that could not be read count as the defaults
// there.
func Load[T Validator](defaults T, source Source) (T, error) {
	result := defaults
	settings := leaves(reflect.ValueOf(&result).Elem())
	l := loader{settings: settings, source: source, merged: koanf.New(".")}
	l.layer(l.fromFile())
	l.layer(l.fromEnvironment())
	l.layer(l.fromFlags(), nil)
	l.apply()
	if err := result.Validate(); err != nil {
		l.problems = append(l.problems, err)
	}
	if len(l.problems) > 0 {
		return defaults, fmt.Errorf("%w:\n%w", ErrInvalid, errors.Join(l.problems...))
	}
	return result, nil
}

// loader collects the layers of one Load.
type loader struct {
	settings []leaf
	source   Source
	merged   *koanf.Koanf
	problems []error
}

// layer puts values, by key without the root, over those of the layers before.
func (l *loader) layer(values map[string]any, problems []error) {
	l.problems = append(l.problems, problems...)
	if err := l.merged.Load(confmap.Provider(values, "."), nil); err != nil {
		l.problems = append(l.problems, err)
	}
}

func (l *loader) apply() {
	for _, setting := range l.settings {
		if !l.merged.Exists(setting.key) {
			continue
		}
		if err := setting.set(l.merged.Get(setting.key)); err != nil {
			l.problems = append(l.problems, err)
		}
	}
}

func (l *loader) find(key string) (leaf, bool) {
	for _, setting := range l.settings {
		if setting.key == key {
			return setting, true
		}
	}
	return leaf{}, false
}
