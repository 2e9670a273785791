package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/oklog/ulid/v2"
)

// Extension is how the names of ledger files end.
const Extension = ".ledger"

// Writer appends to the ledger of one process. It is safe for use by several goroutines.
type Writer struct {
	mu     sync.Mutex
	file   *os.File
	buffer []byte
}

// Create makes the ledger file at path, which must not exist, and writes its Open entry
// for a process that acts under the name member.
func Create(path string, role Role, member string) (*Writer, error) {
	file, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	w := &Writer{file: file}
	err = w.Append(Entry{Kind: Open, Role: role, Incarnation: ulid.Make().String(), Member: member, PID: os.Getpid()})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return w, nil
}

// Append writes entries with the time of now, all with one system call.
func (w *Writer) Append(entries ...Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buffer = w.buffer[:0]
	mono, wall := now()
	for i := range entries {
		entries[i].Mono, entries[i].Wall = mono, wall
		text, err := json.Marshal(&entries[i])
		if err != nil {
			return fmt.Errorf("encode entry of ledger: %w", err)
		}
		w.buffer = append(append(w.buffer, text...), '\n')
	}
	if _, err := w.file.Write(w.buffer); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}

// Close writes the Close entry, with why the process ended if that was an error, and
// closes the file.
func (w *Writer) Close(why error) error {
	last := Entry{Kind: Close}
	if why != nil {
		last.Error = why.Error()
	}
	return errors.Join(w.Append(last), w.file.Close())
}
