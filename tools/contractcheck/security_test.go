package contractcheck_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of SECURITY.md names a test for each line; a name that no test has is a promise
// that nobody keeps.
func TestEveryTestThatTheSecurityTableNamesExists(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	require.NoError(t, err)
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(named), 50)
	there := testsUnder(t, root)
	for _, name := range named {
		require.True(t, there[name[1]], "%s is named, and there is no such test", name[1])
	}
}

// testsUnder returns the names of all tests and fuzz targets.
func testsUnder(t *testing.T, root string) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, name := range declared.FindAllStringSubmatch(string(text), -1) {
			found[name[1]] = true
		}
		return err
	}))
	return found
}
