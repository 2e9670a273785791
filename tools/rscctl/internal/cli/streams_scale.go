package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const scaleHelp = `Changes the shard count of a stream, for all its groups at once.

More shards: the new shard keys are made, then producers write to them and members share
them. Fewer shards: producers stop writing to the last ones at once; those are read until
every group has handled all their records, and then sealed. With 0 the stream ends with no
shards. Records of one key may be handled out of order while the count changes.

The plan is shown first. To go on it needs --yes, or the stream's name typed in. The
coordinators carry the change out by themselves; --watch follows it. Until it is done it
can be undone with migrations rollback.`

const scaleExamples = `  rscctl streams scale orders 8 --dry-run
  rscctl streams scale orders 8 --reason "more load" --watch
  rscctl streams scale orders 2 --reason "less load" --yes --output json`

func (s *session) streamsScale() *cobra.Command {
	var c consent
	var watch bool
	cmd := &cobra.Command{
		Use: "scale STREAM SHARDS", Short: "Change the shard count of a stream", Args: cobra.ExactArgs(2),
		Long: scaleHelp, Example: scaleExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := strconv.Atoi(args[1])
			if err != nil || target < 0 {
				return usage("SHARDS is %q; it is a number from 0 on", args[1])
			}
			sign, err := s.signFor(c.dryRun)
			if err != nil {
				return err
			}
			request := protocol.ScaleRequest{TargetShardCount: &target, RequestedBy: sign.by, Reason: sign.reason}
			return s.scale(cmd.Context(), args[0], request, c, watch)
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "follow the resharding to its end")
	return cmd
}

func (s *session) scale(
	ctx context.Context, stream string, request protocol.ScaleRequest, c consent, watch bool,
) error {
	t := task{place{stream: stream}, "scale stream " + stream + " to " + amount(*request.TargetShardCount)}
	plan, err := s.admin.PlanScale(ctx, stream, request)
	if err != nil {
		return s.cannot(err, t.at, "plan to %s", t.doing)
	}
	if c.dryRun {
		return s.planned(plan, t)
	}
	c.yes = c.yes || plan.FromShardCount == plan.ToShardCount // nothing to agree to
	if err := s.agree(ctx, c, plan, t, stream); err != nil {
		return err
	}
	t.at.changes = true
	scaled, err := s.once().Scale(ctx, stream, request)
	if err != nil {
		return s.cannot(err, t.at, "%s", t.doing)
	}
	if err := s.emit(scaled, func(page *show.Page) { printScaled(page, scaled, watch) }); err != nil || !watch {
		return err
	}
	return s.watchScaled(ctx, scaled)
}

func printScaled(page *show.Page, scaled *protocol.StreamScaleResponse, watched bool) {
	if !begun(scaled) {
		page.Line("Stream %s has %s already.", scaled.StreamPrefix, amount(scaled.TargetShardCount))
		return
	}
	m := scaled.Migrations[0]
	page.Line("Resharding %s of stream %s has begun: %s shards.", m.ReshardingID, scaled.StreamPrefix, counts(m))
	if !watched {
		page.Line("Follow it with: rscctl migrations watch %s", scaled.StreamPrefix)
	}
}

// begun tells whether a scale began a resharding; all that are listed are the same one.
func begun(scaled *protocol.StreamScaleResponse) bool {
	return len(scaled.Migrations) > 0 && scaled.Migrations[0].ReshardingID != protocol.NoopReshardingID
}

// watchScaled follows what a scale began.
func (s *session) watchScaled(ctx context.Context, scaled *protocol.StreamScaleResponse) error {
	if !begun(scaled) {
		return nil
	}
	if len(scaled.AffectedConsumerGroups) == 0 {
		return ended(exitFailed, "stream %s has no groups to follow the resharding through", scaled.StreamPrefix)
	}
	at := place{stream: scaled.StreamPrefix, group: scaled.AffectedConsumerGroups[0], id: scaled.Migrations[0].ReshardingID}
	return s.watch(ctx, at, protocol.MigrationDeprecated)
}

// amount tells how many shards.
func amount(shards int) string {
	if shards == 1 {
		return "1 shard"
	}
	return strconv.Itoa(shards) + " shards"
}

// counts tells from how many shards to how many.
func counts(m protocol.Migration) string {
	return strconv.Itoa(m.FromShardCount) + " -> " + strconv.Itoa(m.ToShardCount)
}
