package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The lines between which the table of values is.
const (
	tableBegins = "<!-- values: made from values.yaml by make generate -->"
	tableEnds   = "<!-- end of values -->"
)

// errNoComment comes when a value is not explained.
var errNoComment = errors.New("has no comment above it in values.yaml")

// value is one line of the table.
type value struct{ key, fallback, meaning string }

// writeReadme replaces the table of values in the chart's README.
func writeReadme(chart, out string) error {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return fmt.Errorf("read the values: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("read values.yaml: %w", err)
	}
	values, err := valuesOf(document.Content[0], "")
	if err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join(chart, "README.md"))
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	before, rest, begins := strings.Cut(string(page), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("README.md has no lines %q and %q", tableBegins, tableEnds)
	}
	written := before + tableBegins + "\n" + table(values) + tableEnds + after
	if err := os.WriteFile(filepath.Join(out, "README.md"), []byte(written), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// valuesOf returns the leaves of a mapping in their order. A mapping is a leaf when none of its
// own keys has a comment. Each leaf must have one.
func valuesOf(mapping *yaml.Node, prefix string) ([]value, error) {
	var found []value
	for i := 0; i < len(mapping.Content); i += 2 {
		name, of := mapping.Content[i], mapping.Content[i+1]
		key := prefix + name.Value
		if explained(of) {
			inner, err := valuesOf(of, key+".")
			if err != nil {
				return nil, err
			}
			found = append(found, inner...)
			continue
		}
		meaning := meaningOf(name.HeadComment)
		if meaning == "" {
			return nil, fmt.Errorf("%s %w", key, errNoComment)
		}
		fallback, err := fallbackOf(of)
		if err != nil {
			return nil, fmt.Errorf("default of %s: %w", key, err)
		}
		found = append(found, value{key, fallback, meaning})
	}
	return found, nil
}

// explained tells whether a value is a mapping with comments of its own inside.
func explained(of *yaml.Node) bool {
	if of.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(of.Content); i += 2 {
		if of.Content[i].HeadComment != "" || explained(of.Content[i+1]) {
			return true
		}
	}
	return false
}

// meaningOf returns the last paragraph of a comment as one line.
func meaningOf(comment string) string {
	paragraphs := strings.Split(comment, "\n\n")
	lines := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(line, "#"))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

func fallbackOf(of *yaml.Node) (string, error) {
	var decoded any
	if err := of.Decode(&decoded); err != nil {
		return "", err
	}
	text, err := json.Marshal(decoded)
	return string(text), err
}

func table(values []value) string {
	var page strings.Builder
	page.WriteString("\n| Key | Default | Meaning |\n|---|---|---|\n")
	for _, v := range values {
		fmt.Fprintf(&page, "| `%s` | `%s` | %s |\n", v.key, v.fallback, strings.ReplaceAll(v.meaning, "|", `\|`))
	}
	page.WriteString("\n")
	return page.String()
}
