package mutation

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrCommit comes when a commit's hash is none.
var ErrCommit = errors.New("not the hash of a commit")

// Rotate picks n mutations that follow each other, beginning where the commit's hash says:
// every commit gets the same ones again, and all have their turn over many commits.
func Rotate(all []Mutation, n int, commit string) ([]Mutation, error) {
	if len(commit) < 8 {
		return nil, fmt.Errorf("%w: %q", ErrCommit, commit)
	}
	number, err := strconv.ParseUint(commit[:8], 16, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrCommit, commit)
	}
	n = min(max(n, 0), len(all))
	picked := make([]Mutation, 0, n)
	for i := range n {
		picked = append(picked, all[(number+uint64(i))%uint64(len(all))])
	}
	return picked, nil
}
