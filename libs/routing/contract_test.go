package routing

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestContractCopiesAreUnchanged keeps a vector from being bent to fit the code.
func TestContractCopiesAreUnchanged(t *testing.T) {
	t.Parallel()
	for name, want := range contractSums(t) {
		require.Equal(t, want, fileSum(t, filepath.Join(contractDir, name)), name)
	}
}

// TestContractCopiesMatchTheirSource compares with the source where a checkout has
// it beside the repository. Elsewhere the sums above have to do.
func TestContractCopiesMatchTheirSource(t *testing.T) {
	t.Parallel()
	source := filepath.Join("..", "..", "..", "shared", "contract")
	if _, err := os.Stat(source); err != nil {
		t.Logf("no contract source beside the repository: %v", err)
		return
	}
	for name, want := range contractSums(t) {
		require.Equal(t, want, fileSum(t, filepath.Join(source, name)), name)
	}
}

func contractSums(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(contractDir, "SHA256SUMS"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	sums := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, name, found := strings.Cut(lines.Text(), "  ")
		require.True(t, found, lines.Text())
		sums[name] = sum
	}
	require.Len(t, sums, 2)
	return sums
}

func fileSum(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
