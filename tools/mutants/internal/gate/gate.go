// Package gate decides whether the searches notice every mutation, and writes the table
// that shows it.
package gate

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/search"
)

// Searcher runs one search over sources with some files changed.
type Searcher interface {
	Run(ctx context.Context, changed map[string]string, s mutation.Search) (search.Finding, error)
}

// Result is what the gate says of one mutation.
type Result struct {
	Mutation mutation.Mutation
	// Findings are those of its searches, in their order.
	Findings []search.Finding
	// Drift is why the mutation could not be applied, nil when it was.
	Drift error
}

// Caught tells whether the mutation was applied and every search has noticed it.
func (r Result) Caught() bool {
	for _, f := range r.Findings {
		if f.Verdict != search.Caught {
			return false
		}
	}
	return r.Drift == nil && len(r.Findings) > 0
}

// Gate runs mutations, one after another.
type Gate struct {
	// Tree holds the sources, Searcher searches them.
	Tree     fs.FS
	Searcher Searcher
	// Watch, unless it is nil, is told every finding; id is empty for a control.
	Watch func(id string, f search.Finding)
}

// Mutate applies each mutation and has its searches look for it. An error is one of the
// tool; what the gate is about is in the results.
func (g Gate) Mutate(ctx context.Context, mutations []mutation.Mutation) ([]Result, error) {
	results := make([]Result, 0, len(mutations))
	for _, m := range mutations {
		r := Result{Mutation: m}
		var changed map[string]string
		if changed, r.Drift = m.Apply(g.Tree); r.Drift == nil {
			for _, s := range m.Searches {
				f, err := g.run(ctx, m.ID, changed, s)
				if err != nil {
					return results, err
				}
				r.Findings = append(r.Findings, f)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// Control runs the searches of the mutations, each once, over the sources as they are, and
// returns those that do not pass: what fails anyway notices nothing.
func (g Gate) Control(ctx context.Context, mutations []mutation.Mutation) ([]search.Finding, error) {
	var broken []search.Finding
	done := make(map[string]bool)
	for _, m := range mutations {
		for _, s := range m.Searches {
			key := fmt.Sprint(s.Package, s.Run, s.Flags)
			if done[key] {
				continue
			}
			done[key] = true
			f, err := g.run(ctx, "", nil, s)
			if err != nil {
				return broken, err
			}
			if f.Verdict != search.Survived {
				broken = append(broken, f)
			}
		}
	}
	return broken, nil
}

func (g Gate) run(ctx context.Context, id string, changed map[string]string, s mutation.Search) (search.Finding, error) {
	f, err := g.Searcher.Run(ctx, changed, s)
	if err == nil && g.Watch != nil {
		g.Watch(id, f)
	}
	return f, err
}
