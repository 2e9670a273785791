package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// schemaFile is the file that Helm checks values by.
const schemaFile = "values.schema.json"

// writeSchema replaces the part of the schema that describes settings, and puts all into one
// order. The other parts are written by hand.
func writeSchema(chart, out string) error {
	text, err := os.ReadFile(filepath.Join(chart, schemaFile))
	if err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return fmt.Errorf("read %s: %w", schemaFile, err)
	}
	properties, is := tree["properties"].(map[string]any)
	if !is {
		return fmt.Errorf("%s has no properties", schemaFile)
	}
	properties["settings"] = settingsSchema()
	var written bytes.Buffer
	encoder := json.NewEncoder(&written)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(tree); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, schemaFile), written.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	return nil
}
