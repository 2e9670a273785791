package e2e_test

import (
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// ownBook is a ledger like those that replay writes.
type ownBook struct {
	began time.Time
	mu    sync.Mutex
	file  *os.File
}

// book opens the ledger of one of the test's own consumers or publishers.
func (s *sdkScene) book(name, role string) *ownBook {
	t := s.guarded.t
	t.Helper()
	file, err := os.Create(filepath.Join(s.ledgers, name+".ledger"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	b := &ownBook{began: s.began, file: file}
	b.add(map[string]any{"kind": "open", "role": role, "incarnation": name, "member": name, "pid": os.Getpid()})
	return b
}

func (b *ownBook) add(line map[string]any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line["mono"], line["wall"] = int64(time.Since(b.began))+1, time.Now().UnixNano()
	text, err := json.Marshal(line)
	if err != nil {
		return
	}
	_, _ = b.file.Write(append(text, '\n')) // what is missing in it, the check finds
}

// hashed is the form in which ledgers keep keys and data.
func hashed(text string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 16)
}
