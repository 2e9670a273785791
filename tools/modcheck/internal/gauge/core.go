package gauge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/source"
)

// minTestShare is how many lines of tests the core has for each line of source.
const minTestShare = 1.1

// exploration is where a package of the core keeps the search of its states: test code that
// only tests import.
const exploration = "/explore"

// Core measures the pure packages in dirs, which are relative to the root: that they
// are there, that they read no clock and import nothing impure, and how much of them
// is tests. A core that has moved away fails, because a check that finds nothing to
// check looks the same as a passed one.
func Core(files []source.File, dirs []string) []Reading {
	var missing, clock, impure, tested []string
	sourceLines, testLines := 0, 0
	for _, dir := range dirs {
		sources, tests := 0, 0
		for _, file := range files {
			switch {
			case !file.Under(dir):
			case file.IsTest(), file.Under(dir + exploration):
				tests += file.Lines
			default:
				sources += file.Lines
				clock = append(clock, clockReads(file)...)
				impure = append(impure, impureImports(file)...)
			}
		}
		if sources == 0 {
			missing = append(missing, dir+" has no source")
		}
		tested = append(tested, fmt.Sprintf("%s: %d lines of tests to %d", dir, tests, sources))
		sourceLines += sources
		testLines += tests
	}
	share := float64(testLines) / float64(max(sourceLines, 1))
	return []Reading{
		atMost("core packages missing", 0, len(missing), missing),
		atMost("clock reads in the core", 0, len(clock), clock),
		atMost("impure imports in the core", 0, len(impure), impure),
		{
			Name: "test lines per source line in the core", Bound: fmt.Sprintf(">= %.1f", minTestShare),
			Measured: fmt.Sprintf("%.2f (%d to %d)", share, testLines, sourceLines),
			OK:       share >= minTestShare, Faults: tested,
		},
	}
}

func clockReads(file source.File) []string {
	var found []string
	for _, line := range file.ClockReads {
		found = append(found, fmt.Sprintf("%s:%d", file.Path, line))
	}
	return found
}

// impureImports finds what would let time, chance, output or another goroutine into
// the core.
func impureImports(file source.File) []string {
	impure := []string{"context", "log", "math/rand", "crypto/rand", "os", "io", "net", "sync", "runtime"}
	var found []string
	for _, path := range file.Imports {
		bad := strings.HasSuffix(path, "/libs/clock") || slices.ContainsFunc(impure, func(pkg string) bool {
			return path == pkg || strings.HasPrefix(path, pkg+"/")
		})
		if bad {
			found = append(found, file.Path+": imports "+path)
		}
	}
	return found
}
