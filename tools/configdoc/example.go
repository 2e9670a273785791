package main

import (
	"slices"
	"strconv"
	"strings"
)

// The kinds of settings that are not written as they are.
const (
	kindText   = "text"
	kindList   = "list"
	kindSecret = "secret"
	kindTable  = "table"
)

// width is how long a line of a comment is at most, the indentation included.
const width = 100

const exampleHead = `# Every setting of the suite with its default, for coordinators, gateways, monitors and consoles.
# Take from it what you change: what is not in your file has its default.
#
# Written by tools/configdoc (make generate). docs/configuration.md says how files, variables and
# flags go together. Secrets are commented out: they belong into files or the environment.
coordinator:
`

// example returns the text of docs/configuration.example.yaml.
func example(all []setting) string {
	var text strings.Builder
	text.WriteString(exampleHead)
	var open []string // the sections that the last setting was in
	for _, one := range all {
		path := strings.Split(one.Key, ".")
		sections := path[:len(path)-1]
		for depth, name := range sections {
			if depth < len(open) && slices.Equal(open[:depth+1], sections[:depth+1]) {
				continue
			}
			text.WriteString("\n" + indent(depth) + name + ":\n")
		}
		open = sections
		write(&text, len(sections), path[len(path)-1], one)
	}
	return text.String()
}

// indent is that of a depth below coordinator.
func indent(depth int) string { return strings.Repeat("  ", depth+1) }

// write writes one setting with its meaning.
func write(text *strings.Builder, depth int, name string, s setting) {
	margin := indent(depth)
	for _, one := range s.usages {
		comment(text, margin, one.text+" ("+strings.Join(one.by, ", ")+")")
	}
	switch s.Kind {
	case kindSecret:
		text.WriteString(margin + "# " + name + `: ""` + "\n")
	case kindTable:
		text.WriteString(margin + "# " + name + ":\n")
		for i, inner := range s.Elements {
			begin := "  "
			if i == 0 {
				begin = "- "
			}
			text.WriteString(margin + "#   " + begin + inner.Key + ": " + literal(inner.Kind, "") + " # " + inner.Usage + "\n")
		}
	default:
		text.WriteString(margin + name + ": " + literal(s.Kind, short(s.Kind, s.values[0].text)) + "\n")
	}
}

// literal is a value in YAML.
func literal(kind, value string) string {
	switch kind {
	case kindList:
		parts := []string{}
		for part := range strings.SplitSeq(value, ",") {
			if part != "" {
				parts = append(parts, strconv.Quote(part))
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case kindText, kindSecret:
		return strconv.Quote(value)
	default:
		return value
	}
}

// comment writes a text in lines of bounded length.
func comment(text *strings.Builder, margin, of string) {
	line := margin + "#"
	for word := range strings.FieldsSeq(of) {
		if len(line)+1+len(word) > width {
			text.WriteString(line + "\n")
			line = margin + "#"
		}
		line += " " + word
	}
	text.WriteString(line + "\n")
}
