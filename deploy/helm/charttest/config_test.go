package charttest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// configuration returns the file that all parts read, as a tree.
func configuration(t *testing.T, objects charttest.Objects) map[string]any {
	t.Helper()
	for _, found := range charttest.All[*core.ConfigMap](objects) {
		text, is := found.Data["rsc.yaml"]
		if !is {
			continue
		}
		var tree map[string]map[string]any
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &tree))
		require.Len(t, tree, 1)
		return tree["coordinator"]
	}
	require.FailNow(t, "no configuration")
	return nil
}

func at(t *testing.T, tree map[string]any, path ...string) any {
	t.Helper()
	var value any = tree
	for _, key := range path {
		section, is := value.(map[string]any)
		require.True(t, is, path)
		value = section[key]
	}
	return value
}

// shutdowns returns how long each part takes to end, by its name.
func shutdowns(t *testing.T, objects charttest.Objects) map[string]time.Duration {
	t.Helper()
	tree := configuration(t, objects)
	found := map[string]time.Duration{}
	for part, path := range map[string][]string{
		"coordinator": {"shutdown-timeout"}, "gateway": {"gateway", "shutdown-timeout"},
		"monitor": {"monitor", "shutdown-timeout"}, "web": {"web", "shutdown-timeout"},
	} {
		text, is := at(t, tree, path...).(string)
		require.True(t, is, path)
		length, err := time.ParseDuration(text)
		require.NoError(t, err)
		found[part] = length
	}
	return found
}
