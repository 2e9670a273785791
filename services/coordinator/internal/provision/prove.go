package provision

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Prove looks at the shards, each in one script on the primary, and tells for each whether
// it is empty for the groups of the stream and for every other group on it (protocol L4).
// The findings are in the order of indexes. A shard's state is never an error; errors are
// StepError, with the findings of the shards that answered.
func (s *Shards) Prove(ctx context.Context, prefix string, indexes []int, groups []string) ([]Finding, error) {
	if err := checkGroups(groups); err != nil {
		return nil, err
	}
	shards, err := s.keys.shardsOf(prefix, indexes)
	if err != nil {
		return nil, err
	}
	findings := make([]Finding, 0, len(shards))
	args := withNames([]any{""}, groups)
	err = s.walk(ctx, shards, action{
		script: s.scripts.prove,
		args:   func(shard) []any { return args },
		settle: func(on shard, word string, rest []any) error {
			f, err := finding(on, rest)
			if err != nil || word != wordOK {
				return unexpected(word, rest)
			}
			if f.Reason == "" {
				f.Proof = protocol.ProofLag
			}
			findings = append(findings, f)
			return nil
		},
	})
	return findings, err
}

// withNames appends names to the arguments of a script.
func withNames(args []any, names []string) []any {
	for _, name := range names {
		args = append(args, name)
	}
	return args
}
