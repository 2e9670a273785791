package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Errors of reading.
var (
	// ErrCorrupt comes when a complete line of a ledger is not an entry, or when a ledger
	// does not begin with an Open entry.
	ErrCorrupt = errors.New("ledger is corrupt")
	// ErrEmpty comes when a ledger has no complete entry: its process was killed before it
	// did anything.
	ErrEmpty = errors.New("ledger is empty")
)

// File is what one process wrote.
type File struct {
	// Path is where it lies.
	Path string
	// Opening is the first entry.
	Opening Entry
	// Closing is the last entry; nil when the process did not end in good order.
	Closing *Entry
	// Entries are those between them, in the order of writing.
	Entries []Entry
}

// ReadDir reads all ledgers of a directory, in the order of their names. Empty ones are
// left out.
func ReadDir(dir string) ([]File, error) {
	paths, err := list(dir)
	if err != nil {
		return nil, err
	}
	files := make([]File, 0, len(paths))
	for _, path := range paths {
		one, err := Read(path)
		if errors.Is(err, ErrEmpty) {
			continue
		}
		if err != nil {
			return nil, err
		}
		files = append(files, one)
	}
	return files, nil
}

// Read reads one ledger. A torn last line is left out.
func Read(path string) (File, error) {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return File{}, fmt.Errorf("read ledger: %w", err)
	}
	entries, _, err := decode(text)
	if err != nil {
		return File{}, fmt.Errorf("read ledger %s: %w", path, err)
	}
	if len(entries) == 0 {
		return File{}, fmt.Errorf("read ledger %s: %w", path, ErrEmpty)
	}
	if entries[0].Kind != Open {
		return File{}, fmt.Errorf("read ledger %s: %w: it does not begin with the opening", path, ErrCorrupt)
	}
	one := File{Path: path, Opening: entries[0], Entries: entries[1:]}
	if last := len(one.Entries) - 1; last >= 0 && one.Entries[last].Kind == Close {
		one.Closing, one.Entries = &one.Entries[last], one.Entries[:last]
	}
	return one, nil
}

// decode returns the entries of the complete lines of text, and how many bytes those are.
func decode(text []byte) (entries []Entry, used int, err error) {
	for {
		end := bytes.IndexByte(text[used:], '\n')
		if end < 0 {
			return entries, used, nil
		}
		var entry Entry
		if err := json.Unmarshal(text[used:used+end], &entry); err != nil {
			return nil, 0, fmt.Errorf("%w: entry %d: %w", ErrCorrupt, len(entries)+1, err)
		}
		entries = append(entries, entry)
		used += end + 1
	}
}

// list returns the paths of the ledgers of a directory, in the order of their names.
func list(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list ledgers: %w", err)
	}
	var paths []string
	for _, file := range files {
		if filepath.Ext(file.Name()) == Extension {
			paths = append(paths, filepath.Join(dir, file.Name()))
		}
	}
	slices.Sort(paths)
	return paths, nil
}
