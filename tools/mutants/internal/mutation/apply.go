package mutation

import (
	"fmt"
	"io/fs"
	"strings"
)

// DriftError comes when the lines of an edit are not in their file exactly once: the
// sources have moved on and the mutation has to follow.
type DriftError struct {
	ID, File string
	// Found is how often the lines are there.
	Found int
}

// Error says where the mutation does not fit.
func (e *DriftError) Error() string {
	return fmt.Sprintf("%s does not fit %s: its lines are there %d times, not once", e.ID, e.File, e.Found)
}

// Apply returns the files that the mutation changes, by their path below tree, with what
// they hold then. It writes nothing. Errors are DriftError, and those of reading.
func (m Mutation) Apply(tree fs.FS) (map[string]string, error) {
	changed := make(map[string]string, len(m.Edits))
	for _, e := range m.Edits {
		text, read := changed[e.File]
		if !read {
			content, err := fs.ReadFile(tree, e.File)
			if err != nil {
				return nil, fmt.Errorf("read what %s changes: %w", m.ID, err)
			}
			text = string(content)
		}
		at, found := locate(text, e.Before)
		if found != 1 {
			return nil, &DriftError{ID: m.ID, File: e.File, Found: found}
		}
		changed[e.File] = text[:at] + e.After + text[at+len(e.Before):]
	}
	return changed, nil
}

// locate returns where lines stand in a text as whole lines, the last place of several, and
// how often they do.
func locate(text, lines string) (at, found int) {
	padded, whole := "\n"+text+"\n", "\n"+lines+"\n"
	for from := 0; ; {
		i := strings.Index(padded[from:], whole)
		if i < 0 {
			return at, found
		}
		at, found = from+i, found+1 // padded is one byte ahead of text, and so is whole of lines
		from += i + 1
	}
}
