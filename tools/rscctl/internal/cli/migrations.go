package cli

import (
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const migrationsHelp = `A resharding changes the shard count of a stream, for all its groups. Its states are:

  PREPARING     shard keys are being made
  ACTIVE        groups take the new layout over; old routing answers run out
  DRAINING      removed shards are read until every group has handled their records
  DEPRECATED    done
  ROLLING_BACK  being undone
  ROLLED_BACK   undone

Without an ID the commands take the resharding under way; show and watch take the newest
when there is none.`

func (s *session) migrations() *cobra.Command {
	return family("migrations", "Reshardings: follow, undo, help along", migrationsHelp,
		s.migrationsList(), s.migrationsShow(), s.migrationsWatch(), s.migrationsRollback(), s.migrationsConfirm())
}

func (s *session) migrationsList() *cobra.Command {
	return &cobra.Command{
		Use: "list STREAM", Short: "List the reshardings of a stream, the newest first", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			list, _, err := s.migrationsOf(cmd.Context(), place{stream: args[0]})
			if err != nil {
				return err
			}
			return s.emit(list, func(page *show.Page) {
				var rows [][]string
				for _, m := range list.Migrations {
					rows = append(rows, []string{
						m.ReshardingID, counts(m), string(m.State), show.Time(m.CreatedAt), show.Time(m.UpdatedAt),
						show.Optional(m.RequestedBy), show.Optional(m.Reason),
					})
				}
				page.Table([]string{"ID", "SHARDS", "STATE", "BEGAN", "CHANGED", "BY", "REASON"}, rows,
					"Stream "+args[0]+" was never resharded.")
			})
		},
	}
}

func (s *session) migrationsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show STREAM [ID]", Short: "Show one resharding and what it waits for", Args: cobra.RangeArgs(1, 2),
		Long: `Shows a resharding: how far each group has come with the new layout, and for each removed
shard why it is not sealed yet:

  UNREAD               records were not delivered to some group: its consumers must catch up
  PENDING              records were delivered and not acknowledged: see the consumer that has them
  STILL_OWNED          proven empty; a member may still be reading and is told to stop
  LAG_UNKNOWN          Redis cannot tell the lag: check the shard, then migrations confirm-drain
  LAG_CONTRADICTS_TAIL Redis tells a lag where nothing is behind: the same
  GROUP_MISSING, STREAM_MISSING  the Redis group or the key is gone: it is made anew`,
		Example: "  rscctl migrations show orders",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := s.migrationOf(cmd.Context(), args, true)
			if err != nil {
				return err
			}
			m, err := s.admin.Migration(cmd.Context(), at.stream, at.group, at.id)
			if err != nil {
				return s.cannot(err, at, "show resharding %s of stream %s", at.id, at.stream)
			}
			return s.emit(m, func(page *show.Page) { printMigration(page, at.stream, m) })
		},
	}
}

func (s *session) migrationsWatch() *cobra.Command {
	return &cobra.Command{
		Use: "watch STREAM [ID]", Short: "Follow a resharding to its end", Args: cobra.RangeArgs(1, 2),
		Long: `Follows a resharding to its end, with a progress bar on a terminal, otherwise with a line
for each change; with --output json each change is one line of JSON, with yaml a document.
Interrupting it ends the watch only: the resharding goes on.

The exit code is 0 when the resharding is done, 3 when it was rolled back, and 1 when the
watch ended before.`,
		Example: "  rscctl migrations watch orders",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := s.migrationOf(cmd.Context(), args, true)
			if err != nil {
				return err
			}
			return s.watch(cmd.Context(), at, protocol.MigrationDeprecated)
		},
	}
}
