package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
)

// root is that of the workspace.
var root = filepath.Join("..", "..")

func mutants(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), append([]string{"-root", root}, args...), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestAll35MutationsFitTheSources(t *testing.T) {
	t.Parallel()
	all, err := mutation.Load(os.DirFS("mutations"))
	require.NoError(t, err)
	require.Len(t, all, 35)
	code, out, problems := mutants(t, "-list")
	require.Zero(t, code, out+problems)
	require.Regexp(t, `(?m)^MUT35 .* fits: true$`, out)
}

func TestAMutationThatDoesNotFitFailsTheGate(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-root", t.TempDir(), "-list", "-only", "MUT01"}, &out, &problems))
	require.Contains(t, problems.String(), "MUT01")
}

func TestAMutationOfTheStreamsRecordIsCaught(t *testing.T) {
	t.Parallel()
	code, out, problems := mutants(t, "-only", "MUT31", "-control=false")
	require.Zero(t, code, out+problems)
	require.Contains(t, out, "1 of 1 mutations are caught")
	require.Contains(t, out, "TestL1OrdersThatAreRefusedChangeNothing")
}

func TestWhatCannotBeDoneIsSaid(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"unknown flag":     {"-all"},
		"unknown mutation": {"-only", "MUT99"},
		"part of a table":  {"-only", "MUT01", "-write", "x.md"},
	} {
		code, _, problems := mutants(t, args...)
		require.Equal(t, 2, code, name)
		require.NotEmpty(t, problems, name)
	}
}
