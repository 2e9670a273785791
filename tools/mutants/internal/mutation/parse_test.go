package mutation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
)

const head = "MUT01 early hand-out\nbreaks: protocol H2\nsearch: walk a/b ^TestWalks$ -walks=5\n"

func TestAMutationReadsLikeTheChangeThatItIs(t *testing.T) {
	t.Parallel()
	m, err := mutation.Parse(head + "search: script a/c Test\nfile: a/x.go\n \tif held {\n-\t\treturn\n+\t\tgrant()\n \t}\nfile: a/x.go\n-gone\n")
	require.NoError(t, err)
	require.Equal(t, mutation.Mutation{
		ID: "MUT01", Name: "early hand-out", Breaks: "protocol H2",
		Searches: []mutation.Search{
			{Kind: mutation.Walk, Package: "a/b", Run: "^TestWalks$", Flags: []string{"-walks=5"}},
			{Kind: mutation.Script, Package: "a/c", Run: "Test", Flags: []string{}},
		},
		Edits: []mutation.Edit{
			{File: "a/x.go", Before: "\tif held {\n\t\treturn\n\t}", After: "\tif held {\n\t\tgrant()\n\t}"},
			{File: "a/x.go", Before: "gone", After: ""},
		},
	}, m)
}

func TestWhatIsNoMutationIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":              "",
		"no name":            "MUT01\nbreaks: x\nsearch: walk a Test\nfile: a\n-x\n",
		"no rule":            "MUT01 x\nsearch: walk a Test\nfile: a\n-x\n",
		"two rules":          head + "breaks: protocol H1\nfile: a\n-x\n",
		"no search":          "MUT01 x\nbreaks: x\nfile: a\n-x\n",
		"no edit":            head,
		"an edit of nothing": head + "file: a\n",
		"nothing replaced":   head + "file: a\n+x\n",
		"nothing changed":    head + "file: a\n x\n",
		"lines of no file":   head + "-x\n",
		"lines after a gap":  head + "file: a\n-x\n\n-y\n",
		"unknown line":       head + "note: x\nfile: a\n-x\n",
		"file outside":       head + "file: ../a\n-x\n",
		"package outside":    "MUT01 x\nbreaks: x\nsearch: walk ../a Test\nfile: a\n-x\n",
		"unknown search":     "MUT01 x\nbreaks: x\nsearch: look a Test\nfile: a\n-x\n",
		"search of no tests": "MUT01 x\nbreaks: x\nsearch: walk a\nfile: a\n-x\n",
		"tests of no sense":  "MUT01 x\nbreaks: x\nsearch: walk a Test(\nfile: a\n-x\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mutation.Parse(text)
			require.ErrorIs(t, err, mutation.ErrFormat)
		})
	}
}
