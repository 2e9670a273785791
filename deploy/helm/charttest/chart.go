package charttest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/client-go/rest"
)

// The name and namespace of the releases that are rendered.
const (
	Release   = "rel"
	Namespace = "streams"
)

// Root returns the root of the repository, seen from a package below deploy/helm.
func Root() string { return filepath.Join("..", "..", "..") }

// Dir returns the directory of the chart.
func Dir() string { return filepath.Join(Root(), "deploy", "helm", "redis-stream-coordinator") }

// Sets returns the sets of values that the chart is tried with, by the names of their files in
// ci/ without -values.yaml.
func Sets(t *testing.T) map[string]chartutil.Values {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(Dir(), "ci", "*-values.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	sets := make(map[string]chartutil.Values, len(paths))
	for _, path := range paths {
		values, err := chartutil.ReadValuesFile(path)
		require.NoError(t, err, path)
		sets[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = values
	}
	return sets
}

// Values reads values from YAML.
func Values(t *testing.T, text string) chartutil.Values {
	t.Helper()
	values, err := chartutil.ReadValues([]byte(text))
	require.NoError(t, err)
	return values
}

// Manifests renders the chart and returns the text of each template by its name, without those
// that came out empty. The cluster is asked by lookup; nil is none, as with `helm template`.
func Manifests(values chartutil.Values, cluster *rest.Config) (map[string]string, error) {
	return ManifestsOf(Release, values, cluster)
}

// ManifestsOf is Manifests for a release of another name.
func ManifestsOf(release string, values chartutil.Values, cluster *rest.Config) (map[string]string, error) {
	loaded, err := loader.LoadDir(Dir())
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: Namespace, Revision: 1, IsInstall: true}
	filled, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("check values: %w", err)
	}
	strict := engine.Engine{Strict: true}
	rendered, err := strict.Render(loaded, filled)
	if cluster != nil {
		rendered, err = engine.RenderWithClient(loaded, filled, cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	maps.DeleteFunc(rendered, func(_, text string) bool { return strings.TrimSpace(text) == "" })
	named := make(map[string]string, len(rendered))
	for path, text := range rendered {
		named[filepath.Base(path)] = text
	}
	return named, nil
}

// Render returns the objects of the chart with values, in the order of its templates. The
// test fails when there are none.
func Render(t *testing.T, values chartutil.Values, cluster *rest.Config) Objects {
	t.Helper()
	manifests, err := Manifests(values, cluster)
	require.NoError(t, err)
	var found Objects
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		if filepath.Ext(name) == ".yaml" {
			found = append(found, decode(t, name, manifests[name])...)
		}
	}
	require.NotEmpty(t, found)
	return found
}

// Read returns a file of the repository.
func Read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{Root()}, parts...)...))
	require.NoError(t, err)
	return string(text)
}
