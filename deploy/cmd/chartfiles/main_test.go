package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

// The chart's rules and dashboards are those of the repository, its schema knows the settings of
// the services and its page the values: `make generate` changes nothing.
func TestTheChartHasWhatIsWritten(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	var problems strings.Builder
	require.Zero(t, run([]string{"-root", root, "-out", out}, &problems), problems.String())
	chart := filepath.Join(root, "deploy", "helm", "redis-stream-coordinator")
	require.Equal(t, tree(t, filepath.Join(out, "files")), tree(t, filepath.Join(chart, "files")), "run make generate")
	for _, name := range []string{schemaFile, "README.md"} {
		require.Equal(t, read(t, filepath.Join(out, name)), read(t, filepath.Join(chart, name)), "%s: run make generate", name)
	}
	for from, to := range map[string]string{"prometheus/rules/gateway.yml": "files/rules/gateway.yml", "grafana/dashboards/rsc-overview.json": "files/dashboards/rsc-overview.json"} {
		require.Equal(t, read(t, filepath.Join(root, from)), read(t, filepath.Join(chart, to)))
	}
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		found[strings.TrimPrefix(path, dir)] = read(t, path)
		return nil
	}))
	require.NotEmpty(t, found)
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// chartOf makes a chart of a few files, with rules and dashboards beside it.
func chartOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"prometheus/rules/a.yml": "groups: []\n", "grafana/dashboards/a.json": "{}\n",
		"deploy/helm/redis-stream-coordinator/values.schema.json": `{"properties": {}}`,
		"deploy/helm/redis-stream-coordinator/values.yaml":        "# One.\none: 1\n",
		"deploy/helm/redis-stream-coordinator/README.md":          "# Chart\n" + tableBegins + "\nold\n" + tableEnds + "\nend\n",
	}
	for path, text := range files {
		all["deploy/helm/redis-stream-coordinator/"+path] = text
	}
	for path, text := range all {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
	}
	return dir
}

func TestTheTableHasEveryValueWithItsDefaultAndMeaning(t *testing.T) {
	t.Parallel()
	dir := chartOf(t, map[string]string{"values.yaml": `# A page of its own.

# How many, or | none.
count: 2
section:
  # First line
  # and second.
  list: [a, b]
  # A leaf with keys of its own.
  leaf: {cpu: 1}
`})
	require.Zero(t, run([]string{"-root", dir}, os.Stderr))
	page := read(t, filepath.Join(dir, "deploy", "helm", "redis-stream-coordinator", "README.md"))
	require.Equal(t, "# Chart\n"+tableBegins+`

| Key | Default | Meaning |
|---|---|---|
| `+"`count` | `2` | How many, or \\| none. |\n| `section.list` | `[\"a\",\"b\"]` | First line and second. |\n"+
		"| `section.leaf` | `{\"cpu\":1}` | A leaf with keys of its own. |\n\n"+tableEnds+"\nend\n", page)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	for want, files := range map[string]map[string]string{
		"section.key has no comment":           {"values.yaml": "section:\n  # Other.\n  other: 1\n  key: 1\n"},
		"README.md has no lines":               {"README.md": "# Chart\n"},
		"values.schema.json has no properties": {"values.schema.json": "{}"},
		"read values.schema.json":              {"values.schema.json": "{"},
		"read values.yaml":                     {"values.yaml": "a: ["},
	} {
		var problems strings.Builder
		require.Equal(t, 1, run([]string{"-root", chartOf(t, files)}, &problems))
		require.Contains(t, problems.String(), want)
	}
	var problems strings.Builder
	require.Equal(t, 1, run([]string{"-root", t.TempDir()}, &problems))
	require.Contains(t, problems.String(), "has no file *.yml")
	require.Equal(t, 2, run([]string{"-nothing"}, &problems))
}

// Secrets and what the chart sets itself are no settings of the values.
func TestTheSchemaHasEverySettingButSecretsAndTheChartsOwn(t *testing.T) {
	t.Parallel()
	sections, _ := settingsSchema()["properties"].(schema)
	names := func(section string) []string {
		inner, _ := sections[section].(schema)
		properties, _ := inner["properties"].(schema)
		var found []string
		for name := range properties {
			found = append(found, name)
		}
		return found
	}
	require.ElementsMatch(t, []string{"base-path", "token-ttl", "authenticate-member-api", "legacy-retry", "rate-limit", "secure-cookies"}, names("api"))
	require.ElementsMatch(t, []string{"traces-endpoint", "traces-ratio"}, names("telemetry"))
	require.ElementsMatch(t, []string{"level", "format"}, names("log"))
	require.Contains(t, names("coordination"), "member-lease-ttl")
	require.NotContains(t, sections, "redis")
	require.NotContains(t, sections, "listen")
}
