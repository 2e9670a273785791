package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"unicode"
)

const (
	// maxDepth is how deep JSON may be nested to be written over several lines, maxGrowth how many
	// times as long it may get by that.
	maxDepth, maxGrowth = 64, 8
)

// Value is a text out of a record, made harmless: what cannot be seen, or changes how the rest is
// seen, is written as an escape.
type Value struct {
	Text string
	// Escaped tells that there are such escapes, Short that only the beginning is shown.
	Escaped, Short bool
	// JSON tells that it was written over several lines, Binary that it is base64, Cut that the
	// API tells no more of it.
	JSON, Binary, Cut bool
}

// visible writes at most most bytes of a text, counted as they are on the page, so that its size
// is known whatever the text is. It returns how many they are. In lines, ends of lines and tabs
// stay what they are.
func visible(text string, lines bool, most int) (Value, int) {
	var made strings.Builder
	value, size := Value{}, 0
	for _, char := range text {
		shown := string(char)
		if !unicode.IsGraphic(char) && !(lines && (char == '\n' || char == '\t')) {
			shown, value.Escaped = escaped(char), true
		}
		if size += sizeOf(shown); size > most {
			size -= sizeOf(shown)
			value.Short = true
			break
		}
		made.WriteString(shown)
	}
	value.Text = made.String()
	return value, size
}

// escaped writes a character as its number.
func escaped(char rune) string {
	if char > math.MaxUint16 {
		return fmt.Sprintf(`\U%08x`, char)
	}
	return fmt.Sprintf(`\u%04x`, char)
}

// sizeOf returns how long a character is in HTML.
func sizeOf(shown string) int {
	switch shown {
	case "<", ">":
		return len("&lt;")
	case "&", `"`, "'":
		return len("&#34;")
	default:
		return len(shown)
	}
}

// pretty writes an object or a list of JSON over several lines. It tells false for any other
// text, and for what would get far too long by it.
func pretty(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") || !grows(text) {
		return "", false
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(text), "", "  "); err != nil {
		return "", false
	}
	return lines.String(), true
}

// grows tells whether JSON stays within the bounds when it is written over several lines.
func grows(text string) bool {
	depth, size, quoted, escaped := 0, len(text), false, false
	for _, char := range []byte(text) {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = char == '\\', char != '"'
		case char == '"':
			quoted = true
		case char == '{', char == '[':
			depth++
			size += 2 * (1 + 2*depth) // the line of what follows, and that of its end
		case char == '}', char == ']':
			depth--
		case char == ',':
			size += 1 + 2*max(depth, 0)
		}
		if depth > maxDepth || size > maxGrowth*len(text) {
			return false
		}
	}
	return true
}
