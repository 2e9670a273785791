// Package assign decides who should read which shard. It is pure: values in, values
// out, no clock, randomness, goroutine or map order that can be seen.
//
// Rules S1 to S4 of the group protocol are its specification.
package assign

// Input is what a strategy decides on.
type Input struct {
	// Owners has one entry for each shard of the reading set: the member that the
	// target names now, or "" for none. Names not in Members own nothing any more.
	Owners []string
	// Members are the live members, sorted and without duplicates.
	Members []string
}

// Strategy computes a target. Implementations are deterministic and pure.
type Strategy interface {
	// Assign returns the new owner of each shard, in the order of in.Owners. It
	// leaves in untouched. Without members every owner is "".
	Assign(in Input) []string
}
