package provision

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Report is what a run found and made.
type Report struct {
	// Keys of Total shard keys carry every group of the plan.
	Keys, Total int
	// New is how many groups were made, counted per shard key.
	New int
	// Existing is how many were there before and were left as they are. Above 0 the
	// coordinator begins with a barrier (protocol J1). A group that this run made, lost
	// the answer of and asked for again counts here too, which is the safe side.
	Existing int
}

// Run makes the shard keys and consumer groups of the plan and leaves alone what is
// there. It calls watch, which may be nil, after every pipeline from the same
// goroutine. On failure the report tells what is done, the error is a *StepError, and
// the same plan again completes the work.
func Run(ctx context.Context, rdb redis.UniversalClient, p Plan, watch func(Progress)) (Report, error) {
	var report Report
	at, err := walk(ctx, rdb, p.Keys(), action{
		queue: func(ctx context.Context, pipe redis.Pipeliner, key string) []redis.Cmder {
			cmds := make([]redis.Cmder, len(p.groups))
			for i, g := range p.groups {
				cmds[i] = pipe.XGroupCreateMkStream(ctx, key, g.Name, string(g.Start))
			}
			return cmds
		},
		settle: func(key string, cmds []redis.Cmder) error {
			var first error
			for i, cmd := range cmds {
				err := cmd.Err()
				switch {
				case err == nil:
					report.New++
				case redisx.StateOf(err) == redisx.StateBusyGroup:
					report.Existing++
				case first == nil:
					first = &StepError{Key: key, Group: p.groups[i].Name, Err: err}
				}
			}
			return first
		},
	}, watch)
	report.Keys, report.Total = at.Done, at.Total
	return report, err
}
