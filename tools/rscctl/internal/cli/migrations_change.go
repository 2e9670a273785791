package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) migrationsRollback() *cobra.Command {
	var c consent
	var watch bool
	cmd := &cobra.Command{
		Use: "rollback STREAM [ID]", Short: "Undo a resharding that is not done yet", Args: cobra.RangeArgs(1, 2),
		Long: `Undoes a resharding. Removed shards come back with their records. Added shards are read
until every group has handled what was written to them, and then sealed, so nothing is
lost. What is done (DEPRECATED) is not rolled back: scale to the old count instead.

The plan is shown first. To go on it needs --yes, or the stream's name typed in.`,
		Example: `  rscctl migrations rollback orders --reason "consumers cannot keep up" --watch`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sign, err := s.signFor(c.dryRun)
			if err != nil {
				return err
			}
			at, err := s.migrationOf(cmd.Context(), args, false)
			if err != nil {
				return err
			}
			return s.rollback(cmd.Context(), at, protocol.RollbackRequest{RequestedBy: sign.by, Reason: sign.reason}, c, watch)
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "follow the rollback to its end")
	return cmd
}

func (s *session) rollback(
	ctx context.Context, at place, request protocol.RollbackRequest, c consent, watch bool,
) error {
	t := task{at, "roll back resharding " + at.id + " of stream " + at.stream}
	plan, err := s.admin.PlanRollback(ctx, at.stream, at.group, at.id, request)
	if err != nil {
		return s.cannot(err, at, "plan to %s", t.doing)
	}
	if c.dryRun {
		return s.planned(plan, t)
	}
	if err := s.agree(ctx, c, plan, t, at.stream); err != nil {
		return err
	}
	at.changes = true
	m, err := s.once().Rollback(ctx, at.stream, at.group, at.id, request)
	if err != nil {
		return s.cannot(err, at, "%s", t.doing)
	}
	err = s.emit(m, func(page *show.Page) {
		page.Line("Resharding %s of stream %s is %s.", m.ReshardingID, at.stream, m.State)
		if !watch {
			page.Line("Follow it with: rscctl migrations show %s %s", at.stream, m.ReshardingID)
		}
	})
	if err != nil || !watch {
		return err
	}
	return s.watch(ctx, at, protocol.MigrationRolledBack)
}

func (s *session) migrationsConfirm() *cobra.Command {
	var shard int
	cmd := &cobra.Command{
		Use: "confirm-drain STREAM [ID] --shard N", Short: "Vouch that a removed shard is empty", Args: cobra.RangeArgs(1, 2),
		Long: `Takes your word that a removed shard is empty, where Redis cannot prove it: its reason is
LAG_UNKNOWN or LAG_CONTRADICTS_TAIL (see migrations show). The coordinator still refuses
while records are unread or pending. The word is kept in the history.`,
		Example: `  rscctl migrations confirm-drain orders --shard 5 --reason "last record was deleted by hand"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if shard < 0 || !cmd.Flags().Changed("shard") {
				return usage("--shard N names the shard that is empty, from 0 on")
			}
			sign, err := s.sign()
			if err != nil {
				return err
			}
			at, err := s.migrationOf(cmd.Context(), args, false)
			if err != nil {
				return err
			}
			at.changes = true
			m, err := s.once().ConfirmDrain(cmd.Context(), at.stream, at.group, at.id,
				protocol.ConfirmDrainRequest{ShardIndex: &shard, RequestedBy: sign.by, Reason: sign.reason})
			if err != nil {
				return s.cannot(err, at, "confirm that shard %d of stream %s is empty", shard, at.stream)
			}
			return s.emit(m, func(page *show.Page) {
				page.Line("Taken: shard %d of stream %s counts as empty.", shard, at.stream)
				page.Line("Follow the resharding with: rscctl migrations watch %s %s", at.stream, m.ReshardingID)
			})
		},
	}
	cmd.Flags().IntVar(&shard, "shard", 0, "`index` of the shard that is empty")
	return cmd
}
