package provision

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// destroyScript ends one group on one key and deletes the key when it was asked to
// and no group is left, in one step, so that a group made meanwhile keeps its data.
// It answers what it did: destroyed, deleted, foreign (the key is no stream).
const destroyScript = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then return {0, 0, 0} end
if kind ~= 'stream' then return {0, 0, 1} end
local destroyed = redis.call('XGROUP', 'DESTROY', KEYS[1], ARGV[1])
if ARGV[2] == '1' and #redis.call('XINFO', 'GROUPS', KEYS[1]) == 0 then
  redis.call('UNLINK', KEYS[1])
  return {destroyed, 1, 0}
end
return {destroyed, 0, 0}
`

// Keep says what becomes of a shard key that no group uses any more.
type Keep bool

// The choices of Destroy.
const (
	// KeepKeys leaves the shard keys and their entries.
	KeepKeys Keep = true
	// DeleteKeys deletes every shard key on which no consumer group is left.
	DeleteKeys Keep = false
)

// Removal is what Destroy found and removed.
type Removal struct {
	// Keys of Total shard keys carry none of the plan's groups any more.
	Keys, Total int
	// Destroyed is how many groups were there and are gone, counted per shard key.
	Destroyed int
	// Deleted is how many shard keys are gone because no group was left on them.
	Deleted int
	// Foreign are shard keys that hold something else than a stream; they are left alone.
	Foreign []string
}

// Destroy ends the plan's groups on its shard keys and, with DeleteKeys, deletes the
// keys that no other group uses. Watch, errors and repetition are those of Run; a
// missing key or group is already as wanted.
func Destroy(ctx context.Context, rdb redis.UniversalClient, p Plan, keep Keep, watch func(Progress)) (Removal, error) {
	var removal Removal
	mayDelete := 1
	if keep == KeepKeys {
		mayDelete = 0
	}
	at, err := walk(ctx, rdb, p.Keys(), action{
		queue: func(ctx context.Context, pipe redis.Pipeliner, key string) []redis.Cmder {
			cmds := make([]redis.Cmder, len(p.groups))
			for i, g := range p.groups {
				// EVAL, as a digest may be unknown on one node of many; Redis compiles it once.
				cmds[i] = pipe.Eval(ctx, destroyScript, []string{key}, g.Name, mayDelete)
			}
			return cmds
		},
		settle: func(key string, cmds []redis.Cmder) error {
			return removal.settle(key, p.groups, cmds)
		},
	}, watch)
	removal.Keys, removal.Total = at.Done, at.Total
	return removal, err
}

func (r *Removal) settle(key string, groups []Group, cmds []redis.Cmder) error {
	foreign := false
	for i, cmd := range cmds {
		did, err := outcome(cmd)
		if err != nil {
			return &StepError{Key: key, Group: groups[i].Name, Err: err}
		}
		r.Destroyed += int(did[0])
		r.Deleted += int(did[1])
		foreign = foreign || did[2] == 1
	}
	if foreign {
		r.Foreign = append(r.Foreign, key)
	}
	return nil
}

func outcome(cmd redis.Cmder) ([]int64, error) {
	if err := cmd.Err(); err != nil {
		return nil, err
	}
	eval, ok := cmd.(*redis.Cmd)
	if !ok {
		return nil, fmt.Errorf("%w: %T", redisx.ErrReply, cmd)
	}
	did, err := eval.Int64Slice()
	if err != nil || len(did) != 3 {
		return nil, fmt.Errorf("%w: %v", redisx.ErrReply, eval.Val())
	}
	return did, nil
}
