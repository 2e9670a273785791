package mutation_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
)

func file(id string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(id + " x\nbreaks: y\nsearch: walk a Test\nfile: a\n-b\n")}
}

func ids(list []mutation.Mutation) []string {
	names := []string{}
	for _, m := range list {
		names = append(names, m.ID)
	}
	return names
}

func TestMutationsAreNumberedWithoutAGap(t *testing.T) {
	t.Parallel()
	all, err := mutation.Load(fstest.MapFS{"MUT02.txt": file("MUT02"), "MUT01.txt": file("MUT01"), "README.md": {}})
	require.NoError(t, err)
	require.Equal(t, []string{"MUT01", "MUT02"}, ids(all))
	for name, dir := range map[string]fstest.MapFS{
		"a gap":        {"MUT01.txt": file("MUT01"), "MUT03.txt": file("MUT03")},
		"other name":   {"first.txt": file("MUT01")},
		"other number": {"MUT01.txt": file("MUT02")},
		"no mutation":  {"MUT01.txt": {Data: []byte("x")}},
	} {
		_, err := mutation.Load(dir)
		require.ErrorIs(t, err, mutation.ErrFormat, name)
	}
}

func TestMutationsArePickedByTheirIDs(t *testing.T) {
	t.Parallel()
	all := numbered(5)
	picked, err := mutation.Named(all, []string{"MUT04", "MUT01"})
	require.NoError(t, err)
	require.Equal(t, []string{"MUT04", "MUT01"}, ids(picked))
	_, err = mutation.Named(all, []string{"MUT06"})
	require.ErrorIs(t, err, mutation.ErrUnknown)
}

func TestACommitAlwaysPicksTheSameAndAllHaveTheirTurn(t *testing.T) {
	t.Parallel()
	all := numbered(35)
	seen := map[string]bool{}
	for n := range 35 {
		commit := fmt.Sprintf("%08x%032d", 1_000_000+n, 0)
		first, err := mutation.Rotate(all, 5, commit)
		require.NoError(t, err)
		again, err := mutation.Rotate(all, 5, commit)
		require.NoError(t, err)
		require.Equal(t, ids(first), ids(again))
		require.Len(t, first, 5)
		for _, m := range first {
			seen[m.ID] = true
		}
	}
	require.Len(t, seen, 35)
	last, err := mutation.Rotate(all, 3, "00000022")
	require.NoError(t, err)
	require.Equal(t, []string{"MUT35", "MUT01", "MUT02"}, ids(last), "behind the last comes the first")
	whole, err := mutation.Rotate(all, 99, "00000000")
	require.NoError(t, err)
	require.Len(t, whole, 35)
	for _, commit := range []string{"", "1234567", "no commit"} {
		_, err := mutation.Rotate(all, 5, commit)
		require.ErrorIs(t, err, mutation.ErrCommit)
	}
}

func numbered(n int) []mutation.Mutation {
	all := make([]mutation.Mutation, n)
	for i := range all {
		all[i].ID = fmt.Sprintf("MUT%02d", i+1)
	}
	return all
}
