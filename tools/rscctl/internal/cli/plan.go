package cli

import (
	"strings"

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

// task is a change that can be planned: what it is about, and what is done, as in
// "scale stream orders to 3 shards".
type task struct {
	at    place
	doing string
}

// planned prints the plan of a dry run. A plan that would be refused is a failure.
func (s *session) planned(plan *protocol.Plan, t task) error {
	if err := s.emit(plan, func(page *show.Page) { printPlan(page, plan, t) }); err != nil {
		return err
	}
	return s.refusedBy(plan, t)
}

// refusedBy returns the refusal that the plan foresees.
func (s *session) refusedBy(plan *protocol.Plan, t task) error {
	if plan.Refusal == nil {
		return nil
	}
	return s.cannot(protocol.Errorf(plan.Refusal.ErrorCode, "%s", plan.Refusal.Message), t.at, "%s", t.doing)
}

// printPlan prints what a change would do.
func printPlan(page *show.Page, plan *protocol.Plan, t task) {
	page.Line("Plan: %s", t.doing)
	if plan.FromShardCount == plan.ToShardCount {
		page.Line("  shards: %d, as before", plan.ToShardCount)
	} else {
		page.Line("  shards: %d -> %d", plan.FromShardCount, plan.ToShardCount)
	}
	if len(plan.ShardsAdded) > 0 {
		page.Line("  added: %s", show.Ranges(plan.ShardsAdded))
	}
	if len(plan.ShardsRemoved) > 0 {
		removed := "  removed: %s"
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
		page.Line("  It would be refused.")
	}
}

func printMoves(page *show.Page, group protocol.GroupPlan) {
	if len(group.Moves) == 0 {
		page.Line("  group %s: no member's shards change", group.ConsumerGroup)
		return
	}
	page.Line("  group %s:", group.ConsumerGroup)
	for _, move := range group.Moves {
		var parts []string
		if len(move.Gains) > 0 {
			parts = append(parts, "gets "+show.Ranges(move.Gains))
		}
		if len(move.Loses) > 0 {
			parts = append(parts, "gives up "+show.Ranges(move.Loses))
		}
		page.Line("    %s %s", move.MemberID, strings.Join(parts, ", "))
	}
}
