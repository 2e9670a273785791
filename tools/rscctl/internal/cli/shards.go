package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const shardsHelp = `Shows for each shard of a group who should read it (TARGET) and who may be reading it now
(HOLDER). They differ while a shard is handed over:

  OWNED       the one that should read it holds it
  MOVING      somebody holds it who is to give it back, or has to let its lease run out
  UNASSIGNED  nobody holds it
  LOST        its key or Redis group is missing: it is granted to nobody until it is made anew

A shard that producers do not write any more, because it is being removed, has PRODUCERS no.`

func (s *session) shards() *cobra.Command {
	return &cobra.Command{
		Use: "shards STREAM [GROUP]", Short: "Show who reads which shard", Args: cobra.RangeArgs(1, 2),
		Long: shardsHelp, Example: "  rscctl shards orders billing",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			found, err := s.admin.Assignments(cmd.Context(), at.stream, at.group)
			if err != nil {
				return s.cannot(err, at, "show the shards of group %s of stream %s", at.group, at.stream)
			}
			group, err := s.admin.Group(cmd.Context(), at.stream, at.group)
			if err != nil {
				return s.cannot(err, at, "show group %s of stream %s", at.group, at.stream)
			}
			routing, err := s.admin.Routing(cmd.Context(), at.stream, at.group)
			if err != nil {
				return s.cannot(err, at, "show the routing of stream %s", at.stream)
			}
			return s.emit(found, func(page *show.Page) { printShards(page, found, routing, group.LostShards) })
		},
	}
}

func printShards(
	page *show.Page, found *protocol.AssignmentsResponse, routing *protocol.ProducerRouting, lost []int,
) {
	targets, holders := owners(found.TargetAssignment), owners(found.CurrentAssignments)
	going := owners(found.RevokeProgress)
	last := routing.ShardCount - 1
	for _, seen := range []map[int]string{targets, holders} {
		for shard := range seen {
			last = max(last, shard)
		}
	}
	rows := make([][]string, 0, last+1)
	for shard := range last + 1 {
		state := "OWNED"
		switch _, leaving := going[shard]; {
		case slices.Contains(lost, shard):
			state = "LOST"
		case holders[shard] == "":
			state = "UNASSIGNED"
		case leaving || holders[shard] != targets[shard]:
			state = "MOVING"
		}
		producers := "yes"
		if shard >= routing.ShardCount {
			producers = "no"
		}
		rows = append(rows, []string{
			strconv.Itoa(shard), shardKey(routing.StreamKeyPattern, shard), producers, state,
			orElse(targets[shard], show.None), orElse(holders[shard], show.None),
		})
	}
	page.Table([]string{"SHARD", "KEY", "PRODUCERS", "STATE", "TARGET", "HOLDER"}, rows, "The stream has no shards.")
	for _, violation := range found.InvariantViolations {
		page.Line("VIOLATION: %s", violation)
	}
}

// owners turns shards by member into members by shard.
func owners(byMember map[string][]protocol.ShardID) map[int]string {
	found := map[int]string{}
	for _, member := range slices.Sorted(maps.Keys(byMember)) {
		for _, id := range byMember[member] {
			found[id.ShardIndex] = member
		}
	}
	return found
}

func shardKey(pattern string, shard int) string {
	return strings.ReplaceAll(pattern, "{shardIndex}", strconv.Itoa(shard))
}
