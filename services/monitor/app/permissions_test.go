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

// What is asked of a shard, or done by a script, has to be allowed, and to be asked for.
func TestEveryCommandIsAmongTheNeeds(t *testing.T) {
	t.Parallel()
	var asked []string
	for _, need := range DefaultConfig().needs() {
		name, _, _ := strings.Cut(need.String(), " on ")
		asked = append(asked, name)
	}
	called, found := regexp.MustCompile(`redis\.p?call\('([A-Z]+)'|\[\]any\{"([A-Z]+)", (?:"([A-Z]+)", )?`), 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "internal"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, one := range called.FindAllStringSubmatch(string(text), -1) {
			found++
			require.Contains(t, asked, strings.TrimSpace(one[1]+one[2]+" "+one[3]), path)
		}
		return err
	}))
	require.Greater(t, found, 8)
}
