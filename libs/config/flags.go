package config

import (
	"fmt"
	"reflect"

	"github.com/spf13/pflag"
)

// Flags adds a flag for every setting of the struct defaults, secrets and lists of structs
// left out. The help text of each tells its meaning, its variable and its default.
func Flags(set *pflag.FlagSet, defaults any) {
	for _, setting := range leaves(reflect.ValueOf(defaults)) {
		if setting.secret() || setting.table() {
			continue
		}
		usage := fmt.Sprintf("%s (%s)", setting.usage, setting.env())
		set.Var(&flagValue{text: setting.text(), kind: setting.kind()}, setting.flag(), usage)
		if setting.kind() == "true|false" {
			set.Lookup(setting.flag()).NoOptDefVal = "true"
		}
	}
}

// Secrets returns the variables that set what has no flag, the secrets of the struct defaults
// and, with _FILE, its lists of structs, with their meaning, for help texts.
func Secrets(defaults any) [][2]string {
	var found [][2]string
	for _, setting := range leaves(reflect.ValueOf(defaults)) {
		if setting.secret() || setting.table() {
			found = append(found, [2]string{setting.source(), setting.usage})
		}
	}
	return found
}

// fromFlags returns the settings of the flags that were given.
func (l *loader) fromFlags() map[string]any {
	values := map[string]any{}
	if l.source.Flags == nil {
		return values
	}
	for _, setting := range l.settings {
		if given := l.source.Flags.Lookup(setting.flag()); given != nil && given.Changed {
			values[setting.key] = given.Value.String()
		}
	}
	return values
}

// flagValue keeps a flag's text; it is read together with the other layers.
type flagValue struct{ text, kind string }

// String implements pflag.Value.
func (f *flagValue) String() string { return f.text }

// Set implements pflag.Value.
func (f *flagValue) Set(text string) error {
	f.text = text
	return nil
}

// Type implements pflag.Value.
func (f *flagValue) Type() string { return f.kind }
