package workspace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/treetest"
	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/workspace"
)

// sound is a workspace without a fault: app needs kit, and by way of it libs.
func sound() map[string]string {
	return map[string]string{
		"go.work":             "go 1.26.0\n\nuse (\n\t./app\n\t./libs\n\t./libs/kit\n)\n",
		"libs/go.mod":         "module x.example/libs\n\ngo 1.26.0\n",
		"libs/kit/go.mod":     "module x.example/libs/kit\n\ngo 1.26.0\n\nrequire x.example/libs v0.0.0\n\nreplace x.example/libs => ..\n",
		"app/go.mod":          "module x.example/app\n\ngo 1.26.0\n\nrequire (\n\tx.example/libs/kit v0.0.0\n\tother.example/lib v1.2.3\n)\n\nreplace x.example/libs => ../libs\n\nreplace x.example/libs/kit => ../libs/kit\n",
		"app/testdata/go.mod": "not a module file",
	}
}

func load(t *testing.T, files map[string]string) workspace.Workspace {
	t.Helper()
	loaded, err := workspace.Load(t.Context(), treetest.Write(t, files))
	require.NoError(t, err)
	return loaded
}

func TestASoundWorkspaceHasNoFaults(t *testing.T) {
	t.Parallel()
	loaded := load(t, sound())
	require.Len(t, loaded.Modules, 3)
	require.Empty(t, loaded.Unlisted())
	require.Empty(t, loaded.Versions())
	require.Empty(t, loaded.Replaces())
}

func TestAModuleMissingInGoWorkIsAFault(t *testing.T) {
	t.Parallel()
	files := sound()
	files["web/go.mod"] = "module x.example/web\n\ngo 1.26.0\n"
	require.Equal(t, []string{"go.work: does not list web"}, load(t, files).Unlisted())
}

func TestAListedDirectoryWithoutAModuleIsAFault(t *testing.T) {
	t.Parallel()
	files := sound()
	files["go.work"] += "\nuse ./gone\n"
	require.Equal(t, []string{"go.work: lists gone, which has no go.mod"}, load(t, files).Unlisted())
}

func TestAnotherGoVersionIsAFault(t *testing.T) {
	t.Parallel()
	files := sound()
	files["libs/go.mod"] = "module x.example/libs\n\ngo 1.25.1\n"
	require.Equal(t, []string{"libs/go.mod: go 1.25.1, go.work has 1.26.0"}, load(t, files).Versions())
}

func TestAMissingReplaceOfAnIndirectNeedIsAFault(t *testing.T) {
	t.Parallel()
	files := sound()
	files["app/go.mod"] = "module x.example/app\n\ngo 1.26.0\n\nrequire x.example/libs/kit v0.0.0\n\nreplace x.example/libs/kit => ../libs/kit\n"
	require.Equal(t, []string{"app/go.mod: no replace for x.example/libs"}, load(t, files).Replaces())
}

func TestAReplaceThatLeadsElsewhereIsAFault(t *testing.T) {
	t.Parallel()
	for target, fault := range map[string]string{
		"./libs":    "libs/kit/go.mod: replace of x.example/libs leads to libs/kit/libs, the module is in libs",
		"/opt/libs": "libs/kit/go.mod: replace of x.example/libs is not relative: /opt/libs",
	} {
		files := sound()
		files["libs/kit/go.mod"] = "module x.example/libs/kit\n\ngo 1.26.0\n\nrequire x.example/libs v0.0.0\n\nreplace x.example/libs => " + target + "\n"
		require.Equal(t, []string{fault}, load(t, files).Replaces())
	}
}

func TestABrokenModuleFileIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	root := treetest.Write(t, map[string]string{"go.work": "go 1.26.0\n", "go.mod": "modul x\n"})
	_, err := workspace.Load(t.Context(), root)
	require.ErrorContains(t, err, "go.mod")
	require.ErrorContains(t, err, "unknown directive")
}
