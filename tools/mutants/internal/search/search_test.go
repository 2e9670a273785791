package search_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sources is a module with a rule that a script carries out and tests watch over.
func sources() map[string]string {
	return map[string]string{
		"go.mod":        "module rule.example\n\ngo 1.26.0\n",
		"rule/rule.go":  "package rule\n\nimport _ \"embed\"\n\n//go:embed held.lua\nvar Script string\n\nfunc Held(n int) bool { return n > 0 }\n",
		"rule/held.lua": "return 1",
		"rule/held_test.go": `package rule

import (
	"os"
	"testing"
)

func TestHeld(t *testing.T) {
	for name, n := range map[string]int{"one": 1} {
		t.Run(name, func(t *testing.T) {
			if !Held(n) {
				t.Error("a held shard is free")
			}
		})
	}
}

func TestScript(t *testing.T) {
	if os.Getenv("RAPID_NOFAILFILE") == "" {
		t.Error("what fails is written into the tree")
	}
	if Script != "return 1" {
		t.Error(Script)
	}
}
`,
		"bare/bare.go": "package bare\n",
	}
}

// tree writes the files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		place := filepath.Join(root, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(place), 0o750))
		require.NoError(t, os.WriteFile(place, []byte(text), 0o600))
	}
	return root
}

// content returns all files below a directory.
func content(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		files[path] = string(text)
		return err
	}))
	return files
}

func TestEveryVerdictIsTheOneOfItsTestsAndTheTreeStays(t *testing.T) {
	t.Parallel()
	root := tree(t, sources())
	r := search.Runner{Root: root, Scratch: t.TempDir(), Limit: time.Minute}
	for _, test := range []struct {
		what    string
		changed map[string]string
		pkg     string
		run     string
		want    search.Verdict
		by      string
	}{
		{"as it is", nil, "rule", "Test", search.Survived, ""},
		{"code", map[string]string{"rule/rule.go": sources()["rule/rule.go"] + "\nfunc init() { Script = \"\" }\n"}, "rule", "TestScript", search.Caught, "TestScript"},
		{"script", map[string]string{"rule/held.lua": "return 0"}, "rule", "Test", search.Caught, "TestScript"},
		{"not looked at", map[string]string{"rule/held.lua": "return 0"}, "rule", "TestHeld", search.Survived, ""},
		{"innermost test", map[string]string{"rule/rule.go": "package rule\n\nvar Script = \"return 1\"\n\nfunc Held(int) bool { return false }\n"}, "rule", "Test", search.Caught, "TestHeld/one"},
		{"nonsense", map[string]string{"rule/rule.go": "package rule\n\nfunc Held() {\n"}, "rule", "Test", search.NotBuilt, ""},
		{"panic", map[string]string{"rule/rule.go": "package rule\n\nvar Script = \"return 1\"\n\nfunc Held(int) bool { panic(1) }\n"}, "rule", "Test", search.Crashed, "TestHeld/one"},
		{"no such test", nil, "rule", "TestFree", search.Empty, ""},
		{"no tests at all", nil, "bare", "Test", search.Empty, ""},
	} {
		f, err := r.Run(t.Context(), test.changed, mutation.Search{Kind: mutation.Test, Package: test.pkg, Run: test.run})
		require.NoError(t, err, test.what)
		require.Equal(t, test.want, f.Verdict, "%s: %s", test.what, f.Output)
		require.Equal(t, test.by, f.Test, test.what)
	}
	require.Equal(t, sources(), content(t, root), "nothing in the tree is written")
}

func TestASearchThatIsCancelledSaysNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := search.Runner{Root: tree(t, sources()), Scratch: t.TempDir(), Limit: time.Minute}
	_, err := r.Run(ctx, nil, mutation.Search{Kind: mutation.Test, Package: "rule", Run: "Test"})
	require.ErrorIs(t, err, context.Canceled)
}
