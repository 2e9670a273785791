package config

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// Print writes the settings of a struct as YAML in the form of a file, secrets masked.
func Print(out io.Writer, of any) error {
	values := map[string]any{}
	for _, setting := range leaves(reflect.ValueOf(of)) {
		values[root+"."+setting.key] = printable(setting)
	}
	tree := koanf.New(".")
	if err := tree.Load(confmap.Provider(values, "."), nil); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	text, err := tree.Marshal(yaml.Parser())
	if err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return nil
}

func printable(setting leaf) any {
	if setting.table() {
		return printableTable(setting)
	}
	switch value := setting.value.Interface().(type) {
	case Secret:
		return value.String()
	case time.Duration:
		return value.String()
	default:
		return value
	}
}
