package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) streamsCreate() *cobra.Command {
	var groups []string
	var shards int
	var c consent
	cmd := &cobra.Command{
		Use: "create STREAM", Short: "Create a stream with its groups", Args: cobra.ExactArgs(1),
		Long: `Creates a stream with its shard keys and consumer groups. Without --group it gets one
group that is named as the stream, with '-' for ':'.

Choose the shard count by the number of readers that the stream will need: a group can use
as many members as there are shards. It can be changed later with streams scale.`,
		Example: `  rscctl streams create orders --shards 8 --group billing --group search --reason "new service"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sign, err := s.signFor(c.dryRun)
			if err != nil {
				return err
			}
			request := protocol.CreateStreamRequest{
				RequestedBy: sign.by, Reason: &sign.reason, ConsumerGroups: groups, InitialShardCount: given(cmd, "shards", &shards),
			}
			return s.createStream(cmd.Context(), args[0], request, c.dryRun)
		},
	}
	c.dryRunFlag(cmd)
	cmd.Flags().IntVar(&shards, "shards", 0, "how many shards; the coordinator's default otherwise")
	cmd.Flags().StringArrayVar(&groups, "group", nil, "`name` of a consumer group; may be repeated")
	return cmd
}

func (s *session) createStream(ctx context.Context, stream string, request protocol.CreateStreamRequest, dryRun bool) error {
	t := task{place{stream: stream, changes: !dryRun}, "create stream " + stream}
	if dryRun {
		plan, err := s.admin.PlanCreateStream(ctx, stream, request)
		if err != nil {
			return s.cannot(err, t.at, "plan to %s", t.doing)
		}
		return s.planned(plan, t)
	}
	created, err := s.once().CreateStream(ctx, stream, request)
	if err != nil {
		return s.cannot(err, t.at, "%s", t.doing)
	}
	return s.emit(created, func(page *show.Page) {
		page.Line("Created stream %s with %s, groups: %s.",
			created.StreamPrefix, amount(created.ShardCount), show.Names(created.ConsumerGroups))
	})
}

// deletion is what both deletions are asked with.
type deletion struct {
	consent

	force, deleteStreams bool
}

const deletionHelp = `
Records stay in Redis unless --delete-streams is given. Without --force nothing is deleted
while members live: stop them first. What is deleted cannot be brought back.`

func (d *deletion) flags(cmd *cobra.Command) {
	d.consent.flags(cmd)
	cmd.Flags().BoolVar(&d.force, "force", false, "delete in spite of live members, which then lose their shards at once")
	cmd.Flags().BoolVar(&d.deleteStreams, "delete-streams", false,
		"also destroy the Redis groups, and the shard keys that no other group uses: RECORDS ARE LOST")
}

func (d *deletion) request(sign signature) protocol.DeleteRequest {
	return protocol.DeleteRequest{
		RequestedBy: sign.by, Reason: sign.reason, Force: d.force, DeleteStreams: d.deleteStreams,
	}
}

func (s *session) streamsDelete() *cobra.Command {
	var d deletion
	cmd := &cobra.Command{
		Use: "delete STREAM", Short: "Delete a stream with its groups", Args: cobra.ExactArgs(1),
		Long:    "Deletes a stream with all its groups." + deletionHelp,
		Example: `  rscctl streams delete orders --dry-run` + "\n" + `  rscctl streams delete orders --reason "service is gone"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			stream, ctx := args[0], cmd.Context()
			return s.remove(ctx, &d, task{place{stream: stream}, "delete stream " + stream}, deleter{
				name: stream,
				plan: func(request protocol.DeleteRequest) (*protocol.Plan, error) {
					return s.admin.PlanDeleteStream(ctx, stream, request)
				},
				apply: func(request protocol.DeleteRequest) (any, error) {
					return s.once().DeleteStream(ctx, stream, request)
				},
			})
		},
	}
	d.flags(cmd)
	return cmd
}

// deleter plans and makes the deletion of what is called name.
type deleter struct {
	name  string
	plan  func(protocol.DeleteRequest) (*protocol.Plan, error)
	apply func(protocol.DeleteRequest) (any, error)
}

// remove deletes, after a plan and the operator's word.
func (s *session) remove(ctx context.Context, d *deletion, t task, do deleter) error {
	sign, err := s.signFor(d.dryRun)
	if err != nil {
		return err
	}
	request := d.request(sign)
	plan, err := do.plan(request)
	if err != nil {
		return s.cannot(err, t.at, "plan to %s", t.doing)
	}
	if d.dryRun {
		return s.planned(plan, t)
	}
	if err := s.agree(ctx, d.consent, plan, t, do.name); err != nil {
		return err
	}
	t.at.changes = true
	was, err := do.apply(request)
	if err != nil {
		return s.cannot(err, t.at, "%s", t.doing)
	}
	return s.emit(was, func(page *show.Page) { page.Line("Deleted %s.", strings.TrimPrefix(t.doing, "delete ")) })
}

// given returns value when its flag was set, otherwise nil.
func given(cmd *cobra.Command, flag string, value *int) *int {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}
