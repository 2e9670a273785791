package gauge

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/tools/modcheck/internal/source"
)

// Bounds on sizes, in lines.
const (
	maxMedian       = 160
	maxP90          = 400
	maxCodeLines    = 500 // of any file, tests included
	maxFunction     = 80
	maxLongFunction = 1.0 // percent of all functions that may be longer
)

// Sizes measures files and functions. Medians and functions are those of source files;
// the wall stands for tests as well.
func Sizes(files []source.File) []Reading {
	var lengths []int
	var biggest, walled, long []string
	functions := 0
	bySize := slices.SortedFunc(slices.Values(files), func(a, b source.File) int { return cmp.Compare(b.Lines, a.Lines) })
	for _, file := range bySize {
		if file.CodeLines > maxCodeLines {
			walled = append(walled, fmt.Sprintf("%s: %d code lines", file.Path, file.CodeLines))
		}
		if file.IsTest() {
			continue
		}
		lengths = append(lengths, file.Lines)
		biggest = append(biggest, fmt.Sprintf("%s: %d lines", file.Path, file.Lines))
		functions += len(file.Functions)
		long = append(long, longFunctions(file)...)
	}
	share := percent(len(long), max(functions, 1))
	return []Reading{
		atMost("median source file, lines", maxMedian, quantile(lengths, 0.5), biggest),
		atMost("p90 source file, lines", maxP90, quantile(lengths, 0.9), biggest),
		atMost(fmt.Sprintf("files over %d code lines", maxCodeLines), 0, len(walled), walled),
		{
			Name: fmt.Sprintf("functions over %d lines", maxFunction), Bound: fmt.Sprintf("<= %.0f %%", maxLongFunction),
			Measured: fmt.Sprintf("%.2f %% (%d of %d)", share, len(long), functions),
			OK:       share <= maxLongFunction, Faults: long,
		},
	}
}

func longFunctions(file source.File) []string {
	var long []string
	for _, function := range file.Functions {
		if function.Lines > maxFunction {
			long = append(long, fmt.Sprintf("%s:%d: %s has %d lines", file.Path, function.Line, function.Name, function.Lines))
		}
	}
	return long
}
