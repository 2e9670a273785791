package reshard_test

import (
	"context"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// fault decides about a call by its name: nil lets it pass.
type fault func(call string) error

// faultyShards fail on command.
type faultyShards struct {
	reshard.Shards
	mu            sync.Mutex
	before, after fault
}

// fail sets the faults asked before a call, which keeps it from Redis, and after one that
// succeeded, whose answer is lost.
func (f *faultyShards) fail(before, after fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func pass[T any](f *faultyShards, call string, do func() (T, error)) (T, error) {
	var none T
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(call); err != nil {
			return none, err
		}
	}
	answer, err := do()
	if err == nil && after != nil {
		if err := after(call); err != nil {
			return none, err
		}
	}
	return answer, err
}

func (f *faultyShards) Mark(ctx context.Context, prefix string, indexes []int, t provision.Token) (int64, error) {
	return pass(f, "Mark", func() (int64, error) { return f.Shards.Mark(ctx, prefix, indexes, t) })
}

func (f *faultyShards) Make(
	ctx context.Context, prefix string, indexes []int, t provision.Token, groups []stream.Group, watch func(provision.Progress),
) (int, error) {
	return pass(f, "Make", func() (int, error) { return f.Shards.Make(ctx, prefix, indexes, t, groups, watch) })
}

func (f *faultyShards) Unmake(ctx context.Context, prefix string, indexes []int, t provision.Token, since int64) ([]int, error) {
	return pass(f, "Unmake", func() ([]int, error) { return f.Shards.Unmake(ctx, prefix, indexes, t, since) })
}

func (f *faultyShards) Prove(ctx context.Context, prefix string, indexes []int, groups []string) ([]provision.Finding, error) {
	return pass(f, "Prove", func() ([]provision.Finding, error) { return f.Shards.Prove(ctx, prefix, indexes, groups) })
}

func (f *faultyShards) Seal(
	ctx context.Context, prefix string, indexes []int, t provision.Token, groups []string,
	retention provision.Retention, accept func(index int) protocol.DrainProof,
) ([]provision.Finding, error) {
	return pass(f, "Seal", func() ([]provision.Finding, error) {
		return f.Shards.Seal(ctx, prefix, indexes, t, groups, retention, accept)
	})
}

func (f *faultyShards) Unseal(ctx context.Context, prefix string, indexes []int, t provision.Token, groups []stream.Group) error {
	_, err := pass(f, "Unseal", func() (bool, error) { return true, f.Shards.Unseal(ctx, prefix, indexes, t, groups) })
	return err
}

func (f *faultyShards) Remake(
	ctx context.Context, prefix string, index int, t provision.Token, starts map[string]string,
) ([]string, error) {
	return pass(f, "Remake", func() ([]string, error) { return f.Shards.Remake(ctx, prefix, index, t, starts) })
}
