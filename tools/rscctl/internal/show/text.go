// Package show turns answers into what a person or a program reads: lines, tables and
// JSON. Nothing that it writes can steer a terminal, whatever names and reasons contain.
package show

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// None stands for what is unknown or not there.
const None = "-"

// Text returns s with every character that is not printable written as an escape, for
// example \x1b or \u202e: control characters, line breaks, direction marks, broken UTF-8.
func Text(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var out strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]:
			out.WriteString(`\x` + strconv.FormatUint(uint64(s[i]), 16))
		case hidden(r):
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// hidden tells of a character that does not show as itself; broken UTF-8 counts too.
func hidden(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// Optional returns what value points at as text, None for nil.
func Optional[T ~string](value *T) string {
	if value == nil {
		return None
	}
	return string(*value)
}

// Count returns the number that value points at, None for nil.
func Count(value *int64) string {
	if value == nil {
		return None
	}
	return strconv.FormatInt(*value, 10)
}

// Time returns t in UTC with seconds, None for the zero time.
func Time(t protocol.Timestamp) string {
	if t.IsZero() {
		return None
	}
	return t.UTC().Format(time.RFC3339)
}

// OptionalTime returns Time of what t points at, None for nil.
func OptionalTime(t *protocol.Timestamp) string {
	if t == nil {
		return None
	}
	return Time(*t)
}

// Names returns names with commas between them, None without any.
func Names(names []string) string {
	if len(names) == 0 {
		return None
	}
	return strings.Join(names, ", ")
}

// Ranges returns numbers sorted and folded, for example 0-3,7; None without any.
func Ranges(numbers []int) string {
	if len(numbers) == 0 {
		return None
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for from := 0; from < len(sorted); {
		to := from
		for to+1 < len(sorted) && sorted[to+1] == sorted[to]+1 {
			to++
		}
		part := strconv.Itoa(sorted[from])
		if to > from {
			part += "-" + strconv.Itoa(sorted[to])
		}
		parts = append(parts, part)
		from = to + 1
	}
	return strings.Join(parts, ",")
}
