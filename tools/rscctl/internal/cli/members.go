package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const membersHelp = `Lists the members of a group: what each one reports to be reading (READS), should read
(TARGET) and is giving back (REVOKING), and until when its lease runs.

An old client, which has no lease of its own, is marked OLD CLIENT under DETAIL: it cannot
be kept from reading late.`

func (s *session) members() *cobra.Command {
	return &cobra.Command{
		Use: "members STREAM [GROUP]", Short: "List the members of a group", Args: cobra.RangeArgs(1, 2),
		Long: membersHelp, Example: "  rscctl members orders billing",
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			members, err := s.admin.Members(cmd.Context(), at.stream, at.group)
			if err != nil {
				return s.cannot(err, at, "list the members of group %s of stream %s", at.group, at.stream)
			}
			return s.emit(protocol.MembersResponse{Members: members}, func(page *show.Page) { printMembers(page, members) })
		},
	}
}

func printMembers(page *show.Page, members []protocol.MemberMetadata) {
	var rows [][]string
	for _, m := range members {
		rows = append(rows, []string{
			m.MemberID, string(m.State), detail(m), strconv.FormatInt(m.MemberEpoch, 10),
			shards(m.CurrentAssignment), shards(m.GrantedAssignment), shards(m.Revoking),
			show.Time(m.LastHeartbeatAt), show.Time(m.MemberLeaseExpiresAt),
		})
	}
	page.Table([]string{
		"MEMBER", "STATE", "DETAIL", "EPOCH", "READS", "TARGET", "REVOKING", "LAST HEARTBEAT", "LEASE UNTIL",
	}, rows, "No members. They join by themselves when they run.")
}

// detail is what the state folds together, and what an operator should know.
func detail(m protocol.MemberMetadata) string {
	switch {
	case m.Successor != nil:
		return "another process wants this id"
	case m.Incarnation == "":
		return "OLD CLIENT"
	case m.StateDetail == string(m.State):
		return show.None
	default:
		return orElse(m.StateDetail, show.None)
	}
}

// shards folds shard ids.
func shards(ids []protocol.ShardID) string { return show.Ranges(indexes(ids)) }

func indexes(ids []protocol.ShardID) []int {
	found := make([]int, 0, len(ids))
	for _, id := range ids {
		found = append(found, id.ShardIndex)
	}
	return found
}
