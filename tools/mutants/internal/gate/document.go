package gate

import (
	"errors"
	"fmt"
	"strings"
)

// The marks between which a document keeps the table.
const (
	begin = "<!-- mutants: begin -->\n"
	end   = "<!-- mutants: end -->\n"
)

// ErrMarks comes when a document has no place for the table.
var ErrMarks = errors.New("the document does not have the marks once each, in order")

// Insert returns the document with the table between its marks, in place of what was there.
func Insert(document, table string) (string, error) {
	before, rest, opened := strings.Cut(document, begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed || strings.Contains(after, begin) || strings.Contains(after, end) || strings.Contains(before, end) {
		return "", fmt.Errorf("%w: %q and %q", ErrMarks, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + table + end + after, nil
}
