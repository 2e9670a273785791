package app

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// commandsIn returns the commands of all scripts below a directory, subcommands included.
func commandsIn(t *testing.T, dir string) []string {
	t.Helper()
	called := regexp.MustCompile(`redis\.p?call\('([A-Z]+)'(?:, '([A-Z]+)')?`)
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".lua" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, one := range called.FindAllStringSubmatch(string(text), -1) {
			name := one[1]
			if name == "XINFO" || name == "XGROUP" {
				name += " " + one[2]
			}
			found = append(found, name)
		}
		return err
	}))
	require.NotEmpty(t, found)
	return found
}

// A script that begins to use another command has to be allowed it, and to be asked for.
func TestEveryCommandOfAScriptIsAmongTheNeeds(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	var asked []string
	for _, need := range cfg.needs() {
		name, _, _ := strings.Cut(need.String(), " on ")
		asked = append(asked, name)
	}
	for _, name := range commandsIn(t, filepath.Join("..", "internal")) {
		if name != "INFO" { // without it evidence is off, which start-up says
			require.Contains(t, asked, name)
		}
	}
}

func TestOnlyWhatTheSettingsUseIsNeeded(t *testing.T) {
	t.Parallel()
	all := DefaultConfig()
	inMemory := all
	inMemory.Store.Type = StoreMemory
	require.Less(t, len(inMemory.needs()), len(all.needs()))
	require.False(t, slices.ContainsFunc(inMemory.needs(), func(need redisx.Need) bool {
		return strings.Contains(need.String(), ":metadata")
	}))
	nothing := inMemory
	nothing.Provisioning.Enabled = false
	require.Empty(t, nothing.needs())
}
