package provision

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// The starting positions of a consumer group, as XGROUP CREATE takes them.
const (
	earliest = "0" // everything the shard holds
	latest   = "$" // what is added from now on
)

// Mark begins a phase on the shards: it overwrites their markers, so that no script of an
// earlier phase does anything any more (protocol L2). A marker that carries a higher mark,
// or the same one in another token, stays; the highest such mark is returned then, nothing
// is promised for any shard, and the phase needs a mark above it. Otherwise higher is 0.
func (s *Shards) Mark(ctx context.Context, prefix string, indexes []int, t Token) (higher int64, err error) {
	err = s.each(ctx, prefix, indexes, t, action{
		script: s.scripts.mark,
		args:   func(shard) []any { return []any{t.String()} },
		settle: func(_ shard, word string, rest []any) error {
			mark, ok := text(rest, 0)
			if word != wordOK || !ok {
				return unexpected(word, rest)
			}
			if mark == "" {
				return nil
			}
			found, err := strconv.ParseInt(mark, 10, 64)
			if err != nil {
				return fmt.Errorf("%w: marker of %q", redisx.ErrReply, mark)
			}
			higher = max(higher, found)
			return nil
		},
	})
	return higher, err
}

// Make makes the shard keys with the groups where they are missing, and tells how many of
// the groups, counted per shard, were there before. Above 0 an earlier life of a group may
// be reading (protocol J1); one that a call made, lost the answer of and asked for again
// counts here too, which is the safe side. The cursor of an existing group is never moved
// (field case F14). The string that a seal left in place of a key is removed. watch, which
// may be nil, is called after every pipeline. Errors are ErrStale and StepError; the same
// call again goes on.
func (s *Shards) Make(
	ctx context.Context, prefix string, indexes []int, t Token, groups []stream.Group, watch func(Progress),
) (existing int, err error) {
	wanted, err := starts(prefix, groups)
	if err != nil {
		return 0, err
	}
	args := append([]any{t.String()}, wanted...)
	err = s.each(ctx, prefix, indexes, t, action{
		script: s.scripts.provide,
		args:   func(shard) []any { return args },
		settle: func(_ shard, word string, made []any) error {
			if word != wordOK {
				return unexpected(word, made)
			}
			existing += len(groups) - len(made)
			return nil
		},
		watch: watch,
	})
	return existing, err
}

// Remake makes a lost shard again (protocol L12): the key, and those of the groups that
// are missing, each from the id that groups gives for it, "0" for the start of the shard.
// It returns the groups that it made, sorted. Everything else is as with Make.
func (s *Shards) Remake(
	ctx context.Context, prefix string, index int, t Token, groups map[string]string,
) (made []string, err error) {
	args := []any{t.String()}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if err := protocol.CheckConsumerGroup(name); err != nil {
			return nil, err
		}
		args = append(args, name, groups[name])
	}
	err = s.each(ctx, prefix, []int{index}, t, action{
		script: s.scripts.provide,
		args:   func(shard) []any { return args },
		settle: func(_ shard, word string, rest []any) error {
			names, ok := texts(rest)
			if word != wordOK || !ok {
				return unexpected(word, rest)
			}
			made = names
			return nil
		},
	})
	return made, err
}

// Unmake takes back what Make made (protocol L8): it deletes the shard keys that are
// streams to which nothing was ever added, with whatever groups they have, and leaves
// every other key alone. It returns the shards, in order, to which something was added
// since that time, by its id, in milliseconds since 1970. Errors are ErrStale and StepError.
func (s *Shards) Unmake(ctx context.Context, prefix string, indexes []int, t Token, since int64) (used []int, err error) {
	err = s.each(ctx, prefix, indexes, t, action{
		script: s.scripts.unmake,
		args:   func(shard) []any { return []any{t.String(), since} },
		settle: func(on shard, word string, rest []any) error {
			switch word {
			case wordOK:
			case wordUsed:
				used = append(used, on.index)
			default:
				return unexpected(word, rest)
			}
			return nil
		},
	})
	slices.Sort(used)
	return used, err
}

// each carries an action of one phase to the shards.
func (s *Shards) each(ctx context.Context, prefix string, indexes []int, t Token, a action) error {
	if err := t.check(); err != nil {
		return err
	}
	shards, err := s.keys.shardsOf(prefix, indexes)
	if err != nil {
		return err
	}
	return s.walk(ctx, shards, a)
}

// starts returns the names of the groups, each with its starting position behind it.
func starts(prefix string, groups []stream.Group) ([]any, error) {
	if len(groups) == 0 {
		return nil, fmt.Errorf("%w: no group for stream %q", ErrInvalid, prefix)
	}
	args := make([]any, 0, 2*len(groups))
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.Name
		start := earliest
		if g.FromLatest {
			start = latest
		}
		args = append(args, g.Name, start)
	}
	return args, checkGroups(names)
}

// checkGroups refuses names that are no group's, or there twice.
func checkGroups(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if err := protocol.CheckConsumerGroup(name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%w: group %q twice", ErrInvalid, name)
		}
		seen[name] = true
	}
	return nil
}
