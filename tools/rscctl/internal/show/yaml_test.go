package show_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func TestYAMLSaysWhatJSONSays(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, show.YAML(&out, struct {
		Zebra string   `json:"zebra"`
		Apple []any    `json:"apple"`
		None  *int     `json:"none"`
		Empty []string `json:"empty"`
		Map   struct{} `json:"map"`
	}{Zebra: "yes", Apple: []any{1, 2.5, true, "1", "null", "a: b", "line\nbreak", "1:30"}, Empty: []string{}}))
	require.Equal(t, `zebra: "yes"
apple:
  - 1
  - 2.5
  - true
  - "1"
  - "null"
  - 'a: b'
  - "line\nbreak"
  - "1:30"
none: null
empty: []
map: {}
`, out.String())
}

func TestYAMLMeansTheSameAndCannotSteerATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := map[string]string{rapid.String().Draw(t, "key"): rapid.String().Draw(t, "value")}
		var out bytes.Buffer
		require.NoError(t, show.YAML(&out, given))
		for line := range strings.Lines(out.String()) {
			requirePrintable(t, strings.TrimSuffix(line, "\n"))
		}
		text, err := json.Marshal(given)
		require.NoError(t, err)
		var want, back map[string]string
		require.NoError(t, json.Unmarshal(text, &want))
		require.NoError(t, yaml.Unmarshal(out.Bytes(), &back), out.String())
		require.Equal(t, want, back)
	})
}

func TestSeveralDocumentsOfYAMLAreApart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, show.YAMLNext(&out, 1))
	require.NoError(t, show.YAMLNext(&out, 1e21))
	require.Equal(t, "---\n1\n---\n1e+21\n", out.String())
}
