package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/treetest"
)

// tree is a small workspace that keeps every number.
func tree() map[string]string {
	const core = "services/coordinator/internal/"
	return map[string]string{
		"go.work":                     "go 1.26.0\n\nuse ./services/coordinator\n",
		"services/coordinator/go.mod": "module x.example/services/coordinator\n\ngo 1.26.0\n",
		core + "group/group.go":       "// Package group is pure.\npackage group\n",
		core + "group/group_test.go":  "package group_test\n\n// Three lines.\n",
		core + "assign/assign.go":     "// Package assign is pure.\npackage assign\n",
		core + "assign/a_test.go":     "package assign_test\n\n// Three lines.\n",
	}
}

func check(t *testing.T, files map[string]string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), []string{"-root", treetest.Write(t, files)}, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestATreeThatKeepsItsNumbersExitsWithZero(t *testing.T) {
	t.Parallel()
	code, out, problems := check(t, tree())
	require.Zero(t, code, out+problems)
	require.Regexp(t, `^number +bound +measured +ok\n`, out)
	require.NotContains(t, out, "NO")
}

func TestATreeThatDoesNotExitsWithOneAndSaysWhere(t *testing.T) {
	t.Parallel()
	files := tree()
	files["services/coordinator/app/app.go"] = "package app\n"
	code, out, _ := check(t, files)
	require.Equal(t, 1, code)
	require.Regexp(t, `packages with a comment +100 % +66\.7 % \(2 of 3\) +NO`, out)
	require.Contains(t, out, "\npackages with a comment:\n  services/coordinator/app\n")
}

func TestALongListOfFaultsIsCut(t *testing.T) {
	t.Parallel()
	files := tree()
	files["services/coordinator/app/app.go"] = "// Package app is one.\npackage app\n" + strings.Repeat("//nolint:x // y\n", 20)
	code, out, _ := check(t, files)
	require.Equal(t, 1, code)
	require.Contains(t, out, "app.go:17\n  and 5 more\n")
}

func TestATreeThatCannotBeReadExitsWithTwo(t *testing.T) {
	t.Parallel()
	files := tree()
	files["services/coordinator/app/app.go"] = "packag app\n"
	code, _, problems := check(t, files)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "app.go")
	require.Equal(t, 2, run(t.Context(), []string{"-nosuch"}, &bytes.Buffer{}, &bytes.Buffer{}))
}
