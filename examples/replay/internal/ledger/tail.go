package ledger

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Tail follows the ledgers of a directory while they are written.
type Tail struct {
	dir  string
	read map[string]int64 // bytes by path
}

// NewTail returns a Tail of dir that begins with what is there already.
func NewTail(dir string) *Tail { return &Tail{dir: dir, read: map[string]int64{}} }

// Next gives what has been written since the last call to each, with the path of its
// ledger.
func (t *Tail) Next(each func(path string, entry Entry)) error {
	paths, err := list(t.dir)
	if err != nil {
		return err
	}
	for _, path := range paths {
		entries, err := t.grown(path)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			each(path, entry)
		}
	}
	return nil
}

// grown returns the new entries of one file.
func (t *Tail) grown(path string) ([]Entry, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("follow ledger: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(t.read[path], io.SeekStart); err != nil {
		return nil, fmt.Errorf("follow ledger %s: %w", path, err)
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("follow ledger %s: %w", path, err)
	}
	entries, used, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("follow ledger %s: %w", path, err)
	}
	t.read[path] += int64(used)
	return entries, nil
}
