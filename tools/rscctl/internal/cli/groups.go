package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) groups() *cobra.Command {
	return family("groups", "Consumer groups: who reads a stream together",
		`A group reads every record of its stream. Its state is EMPTY without members, STABLE when
every member reads exactly what it should, ASSIGNING and RECONCILING on the way there. A
shard is LOST when its key or Redis group is missing; it is made anew by itself.`,
		s.groupsList(), s.groupsDescribe(), s.groupsAdd(), s.groupsDelete())
}

func (s *session) groupsList() *cobra.Command {
	return &cobra.Command{
		Use: "list [STREAM]", Short: "List the groups of all streams, or of one", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			groups, err := s.groupsOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			return s.emit(protocol.GroupsResponse{Groups: groups}, func(page *show.Page) { printGroups(page, groups) })
		},
	}
}

func (s *session) groupsOf(ctx context.Context, args []string) ([]protocol.GroupResponse, error) {
	if len(args) == 0 {
		groups, err := s.admin.Groups(ctx)
		return groups, s.cannot(err, place{}, "list the groups")
	}
	stream, err := s.admin.Stream(ctx, args[0])
	if err != nil {
		return nil, s.cannot(err, place{stream: args[0]}, "list the groups of stream %s", args[0])
	}
	return stream.Groups, nil
}

func printGroups(page *show.Page, groups []protocol.GroupResponse) {
	var rows [][]string
	for _, group := range groups {
		rows = append(rows, []string{
			group.StreamPrefix, group.ConsumerGroup, string(group.State), strconv.Itoa(group.ShardCount),
			strconv.Itoa(len(group.TargetAssignmentSummary) + len(group.SurplusMembers)),
			show.Ranges(group.UnassignedShards), show.Ranges(group.LostShards), show.OptionalTime(group.BarrierUntil),
		})
	}
	page.Table([]string{"STREAM", "GROUP", "STATE", "SHARDS", "MEMBERS", "UNASSIGNED", "LOST", "BARRIER UNTIL"}, rows,
		"No groups.")
}

func (s *session) groupsDescribe() *cobra.Command {
	return &cobra.Command{
		Use: "describe STREAM [GROUP]", Short: "Show one group", Args: cobra.RangeArgs(1, 2),
		Long: `Shows one group: its state, its numbers, and how many shards each member should read and
may be reading. "rscctl members" and "rscctl shards" show the details.`,
		Example: "  rscctl groups describe orders billing",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			group, err := s.admin.Group(cmd.Context(), at.stream, at.group)
			if err != nil {
				return s.cannot(err, at, "describe group %s of stream %s", at.group, at.stream)
			}
			return s.emit(group, func(page *show.Page) { printGroup(page, group) })
		},
	}
}

func printGroup(page *show.Page, group *protocol.GroupResponse) {
	page.Fields(
		"stream", group.StreamPrefix,
		"group", group.ConsumerGroup,
		"state", string(group.State),
		"shards", strconv.Itoa(group.ShardCount),
		"unassigned shards", show.Ranges(group.UnassignedShards),
		"lost shards", show.Ranges(group.LostShards),
		"members without shards", show.Names(group.SurplusMembers),
		"barrier until", show.OptionalTime(group.BarrierUntil),
		"resharding", underWay([]protocol.GroupResponse{*group}),
		"group epoch", strconv.FormatInt(group.GroupEpoch, 10),
		"assignment epoch", strconv.FormatInt(group.AssignmentEpoch, 10),
		"metadata version", strconv.FormatInt(group.MetadataVersion, 10),
		"lineage", orElse(group.Lineage, show.None),
	)
	page.Blank()
	var rows [][]string
	for _, member := range keys(group.TargetAssignmentSummary, group.CurrentAssignmentSummary) {
		rows = append(rows, []string{
			member, strconv.Itoa(group.TargetAssignmentSummary[member]), strconv.Itoa(group.CurrentAssignmentSummary[member]),
		})
	}
	page.Table([]string{"MEMBER", "SHOULD READ", "MAY BE READING"}, rows, "No member has a shard.")
}

// keys returns the keys of all maps, sorted.
func keys[V any](maps ...map[string]V) []string {
	var all []string
	for _, one := range maps {
		for key := range one {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
