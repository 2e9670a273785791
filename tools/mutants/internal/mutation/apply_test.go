package mutation_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
)

func edits(list ...mutation.Edit) mutation.Mutation {
	return mutation.Mutation{ID: "MUT01", Edits: list}
}

func TestLinesThatAreThereOnceAreReplaced(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\n\ttwo\nthree\n"
	for name, test := range map[string]struct{ before, after, want string }{
		"first line":  {"one", "1", "1\ntwo\n\ttwo\nthree\n"},
		"last line":   {"three", "3\n4", "one\ntwo\n\ttwo\n3\n4\n"},
		"whole lines": {"two", "2", "one\n2\n\ttwo\nthree\n"},
		"several":     {"one\ntwo", "1", "1\n\ttwo\nthree\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{"a/x.go": {Data: []byte(text)}}
			changed, err := edits(mutation.Edit{File: "a/x.go", Before: test.before, After: test.after}).Apply(tree)
			require.NoError(t, err)
			require.Equal(t, map[string]string{"a/x.go": test.want}, changed)
			require.Equal(t, text, string(tree["a/x.go"].Data), "the tree stays as it is")
		})
	}
}

func TestEditsOfOneFileBuildOnEachOther(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"x": {Data: []byte("a\nb")}, "y": {Data: []byte("a")}}
	changed, err := edits(
		mutation.Edit{File: "x", Before: "a", After: "c"}, mutation.Edit{File: "y", Before: "a", After: "d"},
		mutation.Edit{File: "x", Before: "b", After: "e"},
	).Apply(tree)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"x": "c\ne", "y": "d"}, changed)
}

func TestLinesThatAreNotThereOnceAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, before string
		found        int
	}{
		"gone":             {"a\nb\n", "c", 0},
		"part of a line":   {"abc\n", "b", 0},
		"other indent":     {"\ta\n", "a", 0},
		"twice":            {"a\nb\na\n", "a", 2},
		"one below other":  {"a\na\na\n", "a", 3},
		"overlapping pair": {"a\na\na\n", "a\na", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := edits(mutation.Edit{File: "x", Before: test.before, After: "z"}).Apply(fstest.MapFS{"x": {Data: []byte(test.text)}})
			var drift *mutation.DriftError
			require.ErrorAs(t, err, &drift)
			require.Equal(t, mutation.DriftError{ID: "MUT01", File: "x", Found: test.found}, *drift)
		})
	}
	_, err := edits(mutation.Edit{File: "x", Before: "a", After: "z"}).Apply(fstest.MapFS{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}
