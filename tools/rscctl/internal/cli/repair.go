package cli

import (
	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func (s *session) repair() *cobra.Command {
	return family("repair", "Interventions for when something went wrong",
		"Interventions of an operator. "+runbook+" says when each one is right.",
		s.repairBarrier(), s.repairFence(), s.repairIndex())
}

const barrierHelp = `Starts a correction round on a group: for one member lease no shard is granted and nobody
expires, so that no member of an older history can read beside a new one. Do it before and
after metadata is put back by hand; what members report is noticed by itself.

--close ends the barrier before its time. That is safe only when no member of a lost
history can still be reading: use it when all members were stopped, or when false reports
keep the group in the barrier. It needs --yes, or the group's name typed in.`

func (s *session) repairBarrier() *cobra.Command {
	var closing, yes bool
	cmd := &cobra.Command{
		Use: "barrier STREAM [GROUP]", Short: "Stop new grants in a group for one lease", Args: cobra.RangeArgs(1, 2),
		Long: barrierHelp,
		Example: `  rscctl repair barrier orders billing --reason "hash restored from a copy"
  rscctl repair barrier orders billing --close --reason "all members were stopped"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sign, err := s.sign()
			if err != nil {
				return err
			}
			at, err := s.groupOf(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := s.confirm(cmd.Context(), yes || !closing, at.group); err != nil {
				return err
			}
			at.changes = true
			group, err := s.once().Barrier(cmd.Context(), at.stream, at.group,
				protocol.BarrierRequest{RequestedBy: sign.by, Reason: sign.reason, Close: closing})
			if err != nil {
				return s.cannot(err, at, "change the barrier of group %s of stream %s", at.group, at.stream)
			}
			return s.emit(group, func(page *show.Page) { printBarrier(page, group) })
		},
	}
	cmd.Flags().BoolVar(&closing, "close", false, "end the barrier that is up")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "close without asking")
	return cmd
}

func printBarrier(page *show.Page, group *protocol.GroupResponse) {
	if group.BarrierUntil == nil {
		page.Line("Group %s of stream %s has no barrier.", group.ConsumerGroup, group.StreamPrefix)
		return
	}
	page.Line("Group %s of stream %s grants nothing until %s.",
		group.ConsumerGroup, group.StreamPrefix, show.Time(*group.BarrierUntil))
}

func (s *session) repairFence() *cobra.Command {
	return &cobra.Command{
		Use: "fence STREAM GROUP MEMBER", Short: "Throw a member out of its group", Args: cobra.ExactArgs(3),
		Long: `Throws a member out of its group, for example one that holds shards and handles nothing.
What it may still be reading is granted to nobody until its lease has run out. A member
that runs joins again by itself, so stop the process too if it is to stay out.`,
		Example: `  rscctl repair fence orders billing billing-7f9c-0 --reason "stuck since 10:15"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sign, err := s.sign()
			if err != nil {
				return err
			}
			at, member := place{stream: args[0], group: args[1], member: args[2], changes: true}, args[2]
			group, err := s.once().Fence(cmd.Context(), at.stream, at.group, member,
				protocol.FenceRequest{RequestedBy: sign.by, Reason: sign.reason})
			if err != nil {
				return s.cannot(err, at, "fence member %s of group %s of stream %s", member, at.group, at.stream)
			}
			return s.emit(group, func(page *show.Page) {
				page.Line("Fenced member %s. Group %s of stream %s is %s.", member, at.group, at.stream, group.State)
				page.Line("See what it still blocks with: rscctl shards %s %s", at.stream, at.group)
			})
		},
	}
}

func (s *session) repairIndex() *cobra.Command {
	return &cobra.Command{
		Use: "index", Short: "Build the index of groups anew", Args: cobra.NoArgs,
		Long: `Builds the list of streams and groups anew from the records that are there. It changes no
group. Use it when a stream or group answers by its name and is missing in the lists.`,
		Example: `  rscctl repair index --reason "index key was deleted"`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sign, err := s.sign()
			if err != nil {
				return err
			}
			found, err := s.once().RepairIndex(cmd.Context(),
				protocol.RepairIndexRequest{RequestedBy: sign.by, Reason: sign.reason})
			if err != nil {
				return s.cannot(err, place{changes: true}, "repair the index")
			}
			return s.emit(found, func(page *show.Page) {
				page.Line("Missing, added: %s", show.Names(found.Added))
				page.Line("Pointing nowhere, removed: %s", show.Names(found.Removed))
			})
		},
	}
}
