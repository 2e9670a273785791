package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

// Table returns the results as a table in Markdown, one line for each search; commit names
// the sources.
func Table(results []Result, commit string) string {
	var b strings.Builder
	caught := 0
	for _, r := range results {
		if r.Caught() {
			caught++
		}
	}
	fmt.Fprintf(&b, "%d of %d mutations are caught.\n\n", caught, len(results))
	b.WriteString("| mutation | | breaks | search | found by | time | commit |\n|---|---|---|---|---|---:|---|\n")
	for _, r := range results {
		for _, line := range lines(r) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.Mutation.ID, r.Mutation.Name, r.Mutation.Breaks, line, commit)
		}
	}
	return b.String()
}

// lines returns the cells that the searches fill.
func lines(r Result) []string {
	if r.Drift != nil {
		return []string{"| **does not apply** |"}
	}
	cells := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		cells[i] = fmt.Sprintf("%s | %s | %s", f.Search.Kind, foundBy(f), f.Took.Round(10*time.Millisecond))
	}
	return cells
}

// foundBy names what was broken by how many events, or the failing test, or says that
// there is none.
func foundBy(f search.Finding) string {
	switch {
	case f.Verdict != search.Caught:
		return "**" + string(f.Verdict) + "**"
	case f.Trace > 0:
		return fmt.Sprintf("%s after %d events, %s", f.Invariant, f.Trace, f.Way)
	default:
		return "`" + f.Test + "`"
	}
}
