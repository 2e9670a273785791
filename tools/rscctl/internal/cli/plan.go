package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// consent is how a change gets its plan and the operator's word.
type consent struct{ dryRun, yes bool }

// dryRunFlag adds --dry-run to a change that asks for no word.
func (c *consent) dryRunFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show the plan and change nothing")
}

// flags adds --dry-run and --yes.
func (c *consent) flags(cmd *cobra.Command) {
	c.dryRunFlag(cmd)
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "go on without asking")
}

// planned prints the plan of a dry run. A plan that would be refused is a failure.
func (s *session) planned(plan *protocol.Plan, at place) error {
	if err := s.emit(plan, func(page *show.Page) { printPlan(page, plan) }); err != nil {
		return err
	}
	return s.refusedBy(plan, at)
}

// refusedBy returns the refusal that the plan foresees.
func (s *session) refusedBy(plan *protocol.Plan, at place) error {
	if plan.Refusal == nil {
		return nil
	}
	return s.cannot(protocol.Errorf(plan.Refusal.ErrorCode, "%s", plan.Refusal.Message), at, "do what is planned")
}

// printPlan prints what a change would do.
func printPlan(page *show.Page, plan *protocol.Plan) {
	page.Line("Plan: %s", headline(plan))
	if len(plan.ShardsAdded) > 0 {
		page.Line("  shards added: %s", show.Ranges(plan.ShardsAdded))
	}
	if len(plan.ShardsRemoved) > 0 {
		removed := "  shards removed: %s"
		if plan.Action != protocol.PlanDelete {
			removed += ", read until they are proven empty, then sealed"
		}
		page.Line(removed, show.Ranges(plan.ShardsRemoved))
	}
	for _, group := range plan.Groups {
		printMoves(page, group)
	}
	for _, warning := range plan.Warnings {
		page.Line("  warning: %s", warning)
	}
	if plan.Refusal != nil {
		page.Line("  would be refused: %s: %s", plan.Refusal.ErrorCode, plan.Refusal.Message)
	}
}

func headline(plan *protocol.Plan) string {
	from, to := strconv.Itoa(plan.FromShardCount), strconv.Itoa(plan.ToShardCount)
	switch plan.Action {
	case protocol.PlanCreate:
		return "create on stream " + plan.StreamPrefix + ", " + to + " shards"
	case protocol.PlanDelete:
		return "delete on stream " + plan.StreamPrefix + ", " + from + " -> " + to + " shards"
	case protocol.PlanRollback:
		return "roll back on stream " + plan.StreamPrefix + ", " + from + " -> " + to + " shards"
	case protocol.PlanScale:
		if from == to {
			return "stream " + plan.StreamPrefix + " has " + to + " shards already, nothing changes"
		}
	}
	return "stream " + plan.StreamPrefix + " from " + from + " to " + to + " shards"
}

func printMoves(page *show.Page, group protocol.GroupPlan) {
	if len(group.Moves) == 0 {
		page.Line("  group %s: no member's shards change", group.ConsumerGroup)
		return
	}
	page.Line("  group %s:", group.ConsumerGroup)
	for _, move := range group.Moves {
		page.Line("    %s gets %s, gives up %s", move.MemberID, show.Ranges(move.Gains), show.Ranges(move.Loses))
	}
}
