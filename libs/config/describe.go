package config

import "reflect"

// Setting is what people have to know of a setting.
type Setting struct {
	// Key is the setting's key without the root, for example redis.host.
	Key string
	// Variable sets it in the environment; it ends in _FILE where only a file can.
	Variable string
	// Flag sets it on the command line, without dashes; empty where no flag does.
	Flag string
	// Kind names what it takes: text, number, duration, list, true|false, secret or table.
	Kind string
	// Default is the value that holds where nothing is said, as it is written in the environment.
	Default string
	// Usage tells its meaning.
	Usage string
	// Elements are the settings of each element of a table, by their names.
	Elements []Setting
}

// Describe returns the settings of a struct with its defaults, in the order of its fields, for
// references and help texts. Secrets are masked.
func Describe(defaults any) []Setting {
	return described(leaves(reflect.ValueOf(defaults)))
}

func described(of []leaf) []Setting {
	settings := make([]Setting, len(of))
	for i, l := range of {
		settings[i] = Setting{Key: l.key, Variable: l.source(), Flag: l.flag(), Kind: l.kind(), Usage: l.usage}
		switch {
		case l.table():
			settings[i].Kind, settings[i].Flag = "table", ""
			settings[i].Elements = described(leaves(reflect.New(l.value.Type().Elem()).Elem()))
		case l.secret():
			settings[i].Kind, settings[i].Flag, settings[i].Default = "secret", "", l.text()
		default:
			settings[i].Default = l.text()
		}
	}
	return settings
}
