package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) groupsAdd() *cobra.Command {
	var position string
	var shards int
	var c consent
	cmd := &cobra.Command{
		Use: "add STREAM GROUP", Short: "Add a group to a stream", Args: cobra.ExactArgs(2),
		Long: `Adds a consumer group to a stream, and creates the stream when it is new. The group begins
with the oldest record that Redis still has, or with --position latest behind the newest.`,
		Example: `  rscctl groups add orders search --position latest --reason "new index"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if position != protocol.PositionEarliest && position != protocol.PositionLatest {
				return usage("--position is %q; it is %s or %s", position, protocol.PositionEarliest, protocol.PositionLatest)
			}
			sign, err := s.signFor(c.dryRun)
			if err != nil {
				return err
			}
			return s.addGroup(cmd.Context(), place{stream: args[0], group: args[1], changes: !c.dryRun}, protocol.CreateGroupRequest{
				InitialShardCount: given(cmd, "shards", &shards),
				RequestedBy:       sign.by, Reason: &sign.reason, InitialPosition: position,
			}, c.dryRun)
		},
	}
	c.dryRunFlag(cmd)
	cmd.Flags().StringVar(&position, "position", protocol.PositionEarliest, "where to begin: earliest or latest")
	cmd.Flags().IntVar(&shards, "shards", 0, "shard count of a stream that is new")
	return cmd
}

func (s *session) addGroup(ctx context.Context, at place, request protocol.CreateGroupRequest, dryRun bool) error {
	t := task{at, "add group " + at.group + " to stream " + at.stream}
	if dryRun {
		plan, err := s.admin.PlanCreateGroup(ctx, at.stream, at.group, request)
		if err != nil {
			return s.cannot(err, at, "plan to %s", t.doing)
		}
		return s.planned(plan, t)
	}
	group, err := s.once().CreateGroup(ctx, at.stream, at.group, request)
	if err != nil {
		return s.cannot(err, at, "%s", t.doing)
	}
	return s.emit(group, func(page *show.Page) {
		page.Line("Added group %s to stream %s with %s.", group.ConsumerGroup, group.StreamPrefix, amount(group.ShardCount))
	})
}

func (s *session) groupsDelete() *cobra.Command {
	var d deletion
	cmd := &cobra.Command{
		Use: "delete STREAM GROUP", Short: "Delete a group", Args: cobra.ExactArgs(2),
		Long:    "Deletes a consumer group; the stream goes with its last group." + deletionHelp,
		Example: `  rscctl groups delete orders search --reason "index is gone"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			stream, group, ctx := args[0], args[1], cmd.Context()
			doing := "delete group " + group + " of stream " + stream
			return s.remove(ctx, &d, task{place{stream: stream, group: group}, doing}, deleter{
				name: group,
				plan: func(request protocol.DeleteRequest) (*protocol.Plan, error) {
					return s.admin.PlanDeleteGroup(ctx, stream, group, request)
				},
				apply: func(request protocol.DeleteRequest) (any, error) {
					return s.once().DeleteGroup(ctx, stream, group, request)
				},
			})
		},
	}
	d.flags(cmd)
	return cmd
}
