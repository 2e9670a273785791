package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A script that begins to use another command has to be allowed it, and to be asked for.
func TestEveryCommandOfAScriptIsAmongTheNeeds(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	require.Empty(t, cfg.needs(), "without Redis nothing is needed")
	cfg.Audit.Sink, cfg.API.RateLimit.Store = SinkRedis, StoreRedis
	var asked []string
	for _, need := range cfg.needs() {
		name, _, _ := strings.Cut(need.String(), " on ")
		asked = append(asked, name)
	}
	called, scripts := regexp.MustCompile(`redis\.p?call\('([A-Z]+)'`), 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, one := range called.FindAllStringSubmatch(string(text), -1) {
			scripts++
			require.Contains(t, asked, one[1], path)
		}
		return err
	}))
	require.Greater(t, scripts, 10)
}
