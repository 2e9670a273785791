package gate_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/gate"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

// eye is a searcher that sees one word in the changed file; tests of the name "blind" see
// nothing, and those of the name "broken" always fail.
type eye struct{ word string }

func (e eye) Run(_ context.Context, changed map[string]string, s mutation.Search) (search.Finding, error) {
	f := search.Finding{Search: s, Verdict: search.Survived, Took: 1234 * time.Millisecond}
	if s.Run == "away" {
		return f, errors.New("no compiler")
	}
	if s.Run == "broken" || s.Run != "blind" && changed["x"] == e.word {
		f.Verdict, f.Test = search.Caught, "TestX/y"
	}
	if s.Kind == mutation.Walk {
		f.Invariant, f.Way, f.Trace = "I1", "walk:all", 17
	}
	return f, nil
}

func mutant(id, before, after string, runs ...string) mutation.Mutation {
	m := mutation.Mutation{
		ID: id, Name: "name of " + id, Breaks: "protocol H1",
		Edits: []mutation.Edit{{File: "x", Before: before, After: after}},
	}
	for _, run := range runs {
		kind := mutation.Test
		if run == "walk" {
			kind = mutation.Walk
		}
		m.Searches = append(m.Searches, mutation.Search{Kind: kind, Package: "p", Run: run})
	}
	return m
}

func newGate(watch func(string, search.Finding)) gate.Gate {
	return gate.Gate{Tree: fstest.MapFS{"x": {Data: []byte("good")}}, Searcher: eye{word: "bad"}, Watch: watch}
}

func TestAMutationIsCaughtWhenEverySearchNoticesIt(t *testing.T) {
	t.Parallel()
	var watched []string
	results, err := newGate(func(id string, f search.Finding) { watched = append(watched, id+" "+f.Search.Run) }).Mutate(
		t.Context(), []mutation.Mutation{
			mutant("MUT01", "good", "bad", "unit", "walk"), mutant("MUT02", "good", "bad", "unit", "blind"),
			mutant("MUT03", "good", "fine", "unit"), mutant("MUT04", "gone", "bad", "unit"),
		})
	require.NoError(t, err)
	var caught []bool
	for _, r := range results {
		caught = append(caught, r.Caught())
	}
	require.Equal(t, []bool{true, false, false, false}, caught)
	var drift *mutation.DriftError
	require.ErrorAs(t, results[3].Drift, &drift, "what does not fit is not caught")
	require.Equal(t, []string{"MUT01 unit", "MUT01 walk", "MUT02 unit", "MUT02 blind", "MUT03 unit"}, watched)
	require.Equal(t, `1 of 4 mutations are caught.

| mutation | | breaks | search | found by | time | commit |
|---|---|---|---|---|---:|---|
| MUT01 | name of MUT01 | protocol H1 | test | `+"`TestX/y`"+` | 1.23s | abc123 |
| MUT01 | name of MUT01 | protocol H1 | walk | I1 after 17 events, walk:all | 1.23s | abc123 |
| MUT02 | name of MUT02 | protocol H1 | test | `+"`TestX/y`"+` | 1.23s | abc123 |
| MUT02 | name of MUT02 | protocol H1 | test | **survived** | 1.23s | abc123 |
| MUT03 | name of MUT03 | protocol H1 | test | **survived** | 1.23s | abc123 |
| MUT04 | name of MUT04 | protocol H1 | | **does not apply** | | abc123 |
`, gate.Table(results, "abc123"))
}

func TestSearchesThatFailAnywayNoticeNothing(t *testing.T) {
	t.Parallel()
	searched := 0
	broken, err := newGate(func(id string, _ search.Finding) {
		require.Empty(t, id)
		searched++
	}).Control(t.Context(), []mutation.Mutation{
		mutant("MUT01", "good", "bad", "unit", "broken"), mutant("MUT02", "good", "bad", "unit"),
	})
	require.NoError(t, err)
	require.Len(t, broken, 1)
	require.Equal(t, "broken", broken[0].Search.Run)
	require.Equal(t, 2, searched, "a search that two mutations share is run once")
}

func TestAToolThatCannotWorkIsAnError(t *testing.T) {
	t.Parallel()
	some := []mutation.Mutation{mutant("MUT01", "good", "bad", "away")}
	_, err := newGate(nil).Mutate(t.Context(), some)
	require.EqualError(t, err, "no compiler")
	_, err = newGate(nil).Control(t.Context(), some)
	require.EqualError(t, err, "no compiler")
}

func TestTheTableTakesThePlaceOfTheLastOne(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"
	document, err := gate.Insert("# Title\n"+begin+"old\n"+end+"rest\n", "new\n")
	require.NoError(t, err)
	require.Equal(t, "# Title\n"+begin+"new\n"+end+"rest\n", document)
	for _, text := range []string{"", begin, end, end + begin, begin + end + begin + end} {
		_, err := gate.Insert(text, "new\n")
		require.ErrorIs(t, err, gate.ErrMarks, text)
	}
}
