// Package gauge turns a tree of Go files into the numbers that this codebase keeps:
// how big files and functions are, how well they are documented, and that the pure
// core of the coordinator stays pure.
package gauge

import (
	"fmt"
	"math"
	"slices"
)

// Reading is one number with its bound.
type Reading struct {
	Name     string
	Bound    string
	Measured string
	OK       bool
	// Faults says where to look, one place an entry; it may be filled while OK.
	Faults []string
}

// percent returns part of whole in percent, and 100 when there is nothing to measure.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// quantile returns the smallest value that a share q of all values does not exceed
// (nearest rank); 0 without values. The values need not be sorted.
func quantile(values []int, q float64) int {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

func atMost(name string, bound, measured int, faults []string) Reading {
	return Reading{
		Name: name, Bound: fmt.Sprintf("<= %d", bound), Measured: fmt.Sprint(measured),
		OK: measured <= bound, Faults: faults,
	}
}
