package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// ErrRetired comes when a shard cannot be sealed because retired data of the same
// resharding is there already, which is never overwritten. Somebody has made the shard
// again behind the seal; the older data has to be renamed or deleted by hand.
var ErrRetired = errors.New("retired data is in the way of the seal and is not overwritten; rename or delete it")

// RetiredKey returns the key under which a seal of the resharding keeps a shard's entries.
func (s *Shards) RetiredKey(prefix string, index int, reshardingID string) string {
	return s.keys.shard(prefix, index).retired + reshardingID
}

// Seal proves once more that the shards are empty and seals them in the same step
// (protocol L5): the key is renamed to RetiredKey, for the retention, and a string takes
// its place, so that nothing can be added any more. accept says for each shard what proof
// is enough: ProofTail and ProofConfirmed take an empty tail without anything pending
// (protocol L9), everything else, and a nil accept, nothing but the lag too.
//
// Where replicas follow, one of them has the seals when Seal returns: a seal lost in a
// failover would leave a stream that takes records and that nobody reads (protocol M3).
//
// A finding is Sealed, also when it was before; or Stale; or it carries the reason why the
// shard is not empty; or Err. The findings are in the order of indexes; errors are
// StepError, with the findings of the shards that answered and need no replica.
func (s *Shards) Seal(
	ctx context.Context, prefix string, indexes []int, t Token, groups []string, r Retention,
	accept func(index int) protocol.DrainProof,
) ([]Finding, error) {
	if err := checkGroups(groups); err != nil {
		return nil, err
	}
	if accept == nil {
		accept = func(int) protocol.DrainProof { return protocol.ProofLag }
	}
	findings := make([]Finding, 0, len(indexes))
	var followed []shard // with a seal that a replica has to have
	err := s.each(ctx, prefix, indexes, t, action{
		script: s.scripts.seal,
		args: func(on shard) []any {
			tail := 0
			if byTail(accept(on.index)) {
				tail = 1
			}
			return withNames([]any{t.String(), t.ReshardingID, r.dataMs(), r.sealMs(), tail}, groups)
		},
		retiredBy: t.ReshardingID,
		settle: func(on shard, word string, rest []any) error {
			f, err := sealed(on, t, word, rest, accept(on.index))
			if err != nil {
				return err
			}
			findings = append(findings, f)
			if f.Sealed && rest[reportLength-1] == int64(1) {
				followed = append(followed, on)
			}
			return nil
		},
	})
	if lost := s.confirm(ctx, followed, t); lost != nil {
		without := slices.DeleteFunc(findings, func(f Finding) bool { return f.Sealed })
		return without, errors.Join(err, lost)
	}
	return findings, err
}

// byTail tells whether a proof does without the lag.
func byTail(proof protocol.DrainProof) bool {
	return proof == protocol.ProofTail || proof == protocol.ProofConfirmed
}

// sealed reads what the seal script answered about a shard.
func sealed(on shard, t Token, word string, rest []any, accepted protocol.DrainProof) (Finding, error) {
	if word == wordStale {
		return Finding{Index: on.index, Stale: true}, nil
	}
	f, err := finding(on, rest)
	if err != nil {
		return f, unexpected(word, rest)
	}
	switch word {
	case wordOK:
		return f, nil
	case wordSealed:
		f.Sealed = true
	case wordOccupied:
		f.Err = fmt.Errorf("%w: %s", ErrRetired, on.retired+t.ReshardingID)
	default:
		return f, unexpected(word, rest)
	}
	switch {
	case f.RetiredBy != "": // sealed before: what was found is the string
		f.Reason = ""
	case f.Reason == "":
		f.Proof = protocol.ProofLag
	default:
		f.Reason, f.Proof = "", accepted
	}
	return f, nil
}

// Unseal puts sealed shards back with their entries, groups and pending entries, and
// without the seal's limit in time (protocol L8). Where the data is gone, because the
// retention was 0 or is over, the shard is made anew with the groups. A shard that is a
// stream is left as it is. Errors are ErrStale and StepError, the latter with WRONGTYPE
// for the seal of another resharding.
//
// t names the resharding whose seals are undone.
func (s *Shards) Unseal(ctx context.Context, prefix string, indexes []int, t Token, groups []stream.Group) error {
	wanted, err := starts(prefix, groups)
	if err != nil {
		return err
	}
	args := append([]any{t.String(), t.ReshardingID}, wanted...)
	return s.each(ctx, prefix, indexes, t, action{
		script:    s.scripts.unseal,
		args:      func(shard) []any { return args },
		retiredBy: t.ReshardingID,
	})
}
