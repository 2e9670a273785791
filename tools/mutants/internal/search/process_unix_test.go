//go:build unix

package search_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

// TestWhatTakesTooLongIsEndedWithAllThatItStarted has a test that hangs behind a process of
// its own, which holds a pipe open as long as it lives.
func TestWhatTakesTooLongIsEndedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"go.mod": "module hang.example\n\ngo 1.26.0\n",
		"hang_test.go": `package hang

import (
	"os/exec"
	"testing"
)

func TestHang(t *testing.T) {
	if err := exec.Command("sh", "-c", "exec sleep 1000 >life").Run(); err != nil {
		t.Error(err)
	}
}
`,
	})
	life := filepath.Join(root, "life")
	require.NoError(t, syscall.Mkfifo(life, 0o600))
	over := make(chan error, 1)
	go func() {
		pipe, err := os.Open(life)
		if err == nil {
			_, err = io.ReadAll(pipe)
			_ = pipe.Close()
		}
		over <- err
	}()
	r := search.Runner{Root: root, Scratch: t.TempDir(), Limit: 3 * time.Second}
	f, err := r.Run(t.Context(), nil, mutation.Search{Kind: mutation.Test, Package: ".", Run: "Test"})
	require.NoError(t, err)
	require.Equal(t, search.TimedOut, f.Verdict, f.Output)
	select {
	case err := <-over:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		require.Fail(t, "the process that the test has started lives on")
	}
}
