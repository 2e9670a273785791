package charttest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// keysOf lists the keys of an object's schema, those of objects inside with them. Objects that
// take what others define (labels, resources) end there.
func keysOf(of map[string]any, prefix string) []string {
	properties, _ := of["properties"].(map[string]any)
	var found []string
	for name, inner := range properties {
		key := prefix + name
		schema, _ := inner.(map[string]any)
		if below := keysOf(schema, key+"."); len(below) > 0 {
			found = append(found, below...)
			continue
		}
		found = append(found, key)
	}
	return found
}

// Nothing can be said that values.yaml does not show and explain, but for the settings, which
// are explained by the services.
func TestEveryKeyOfTheSchemaHasADefault(t *testing.T) {
	t.Parallel()
	var schema map[string]any
	require.NoError(t, json.Unmarshal([]byte(charttest.Read(t, "deploy", "helm", "redis-stream-coordinator", "values.schema.json")), &schema))
	values, err := chartutil.ReadValues([]byte(charttest.Read(t, "deploy", "helm", "redis-stream-coordinator", "values.yaml")))
	require.NoError(t, err)
	keys := keysOf(schema, "")
	require.Greater(t, len(keys), 100)
	for _, key := range keys {
		if key == "global" || strings.HasPrefix(key, "settings.") || strings.Contains(key, ".resources.") {
			continue
		}
		var at any = map[string]any(values)
		for name := range strings.SplitSeq(key, ".") {
			section, is := at.(map[string]any)
			require.True(t, is, key)
			require.Contains(t, section, name, key)
			at = section[name]
		}
	}
}
