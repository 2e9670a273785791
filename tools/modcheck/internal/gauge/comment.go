package gauge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/source"
)

// Bounds on comments.
const (
	minDocumented = 95.0 // percent of the exported names
	maxNolints    = 10   // in the whole tree, tests included
)

// Comments measures package comments, documentation of exported names, and how often
// the linter is silenced.
func Comments(files []source.File) []Reading {
	exported := 0
	var bare, silenced []string
	for _, file := range files {
		exported += len(file.Exported)
		for _, name := range file.Exported {
			if !name.Documented {
				bare = append(bare, fmt.Sprintf("%s:%d: %s", file.Path, name.Line, name.Name))
			}
		}
		for _, line := range file.Nolints {
			silenced = append(silenced, fmt.Sprintf("%s:%d", file.Path, line))
		}
	}
	share := percent(exported-len(bare), exported)
	return []Reading{
		packageComments(files),
		{
			Name: "exported names documented", Bound: fmt.Sprintf(">= %.0f %%", minDocumented),
			Measured: fmt.Sprintf("%.1f %% (%d of %d)", share, exported-len(bare), exported),
			OK:       share >= minDocumented, Faults: bare,
		},
		atMost("nolint directives", maxNolints, len(silenced), silenced),
	}
}

// packageComments looks at every directory with a file that is not a _test.go file; one
// documented file is enough.
func packageComments(files []source.File) Reading {
	commented := map[string]bool{}
	for _, file := range files {
		if !file.InTestFile() {
			commented[file.Dir()] = commented[file.Dir()] || file.PackageComment
		}
	}
	var bare []string
	for _, dir := range slices.Sorted(maps.Keys(commented)) {
		if !commented[dir] {
			bare = append(bare, dir)
		}
	}
	share := percent(len(commented)-len(bare), len(commented))
	return Reading{
		Name: "packages with a comment", Bound: "100 %",
		Measured: fmt.Sprintf("%.1f %% (%d of %d)", share, len(commented)-len(bare), len(commented)),
		OK:       len(bare) == 0, Faults: bare,
	}
}
