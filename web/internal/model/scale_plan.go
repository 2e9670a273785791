package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// planLines is how many members one page of a plan shows.
	planLines = 100
	// runsShown is how many runs of shards are written out.
	runsShown = 12
)

// Plan is what a change of the shard count would do (L11).
type Plan struct {
	From, To string
	// Same tells that nothing would change.
	Same bool
	// Steps are sentences on what would happen, in order.
	Steps    []string
	Added    string
	Removed  string
	Groups   []string
	Warnings []string
	Moves    []Move
	Pager    Pager
	// Refusal is what the change would be refused with; nil for nothing.
	Refusal *Refusal
	// Print is the same for two plans only when they are the same.
	Print string
}

// Move is what becomes of the shards of one member.
type Move struct{ Group, Member, Gains, Loses string }

// newPlan makes the plan of what the API has planned. address is that of another page of it.
func newPlan(made protocol.Plan, page int, address func(page string) string) *Plan {
	plan := &Plan{
		From: Count(int64(made.FromShardCount)), To: Count(int64(made.ToShardCount)),
		Same: made.FromShardCount == made.ToShardCount && made.Refusal == nil, Steps: stepsOf(made),
		Added: runsOf(made.ShardsAdded), Removed: runsOf(made.ShardsRemoved), Warnings: made.Warnings, Print: printOf(made),
	}
	if made.Refusal != nil {
		plan.Refusal = NewRefusal(made.Refusal.ErrorCode, made.Refusal.Message)
	}
	var moves []Move
	for _, group := range made.Groups {
		plan.Groups = append(plan.Groups, group.ConsumerGroup)
		for _, move := range group.Moves {
			moves = append(moves, Move{group.ConsumerGroup, move.MemberID, runsOf(move.Gains), runsOf(move.Loses)})
		}
	}
	plan.Moves, plan.Pager = paged(moves, page, planLines, address)
	return plan
}

// stepsOf says what a change does, in its order (L2, L3, L5, L8).
func stepsOf(made protocol.Plan) []string {
	var steps []string
	switch {
	case len(made.ShardsAdded) > 0 && made.Action == protocol.PlanRollback:
		steps = append(steps,
			"Those of shards "+runsOf(made.ShardsAdded)+" that were sealed come back first, with all that is in them.",
			"Then producers write to all "+Count(int64(made.ToShardCount))+" shards again, and the groups share them out.")
	case len(made.ShardsAdded) > 0:
		steps = append(steps,
			"Shards "+runsOf(made.ShardsAdded)+" are made first, with every group of the stream.",
			"Then producers write to all "+Count(int64(made.ToShardCount))+" shards, and the groups share them out.")
	}
	if len(made.ShardsRemoved) > 0 {
		steps = append(steps,
			"Producers stop to write to shards "+runsOf(made.ShardsRemoved)+" when their routing lease runs out.",
			"These shards are drained: they stay with their readers until every group has read and acknowledged all of them.",
			"Each one that is proven empty is sealed: nothing can be added to it, and its records are kept for the retention.")
	}
	return steps
}

// printOf returns a print of all that a plan says.
func printOf(made protocol.Plan) string {
	text, err := json.Marshal(made)
	if err != nil {
		return "" // it is no plan's
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// runsOf writes shard indexes, which are sorted, as runs: 0–3, 7.
func runsOf(indexes []int) string {
	if len(indexes) == 0 {
		return "none"
	}
	var runs []string
	for from := 0; from < len(indexes); {
		to := from
		for to+1 < len(indexes) && indexes[to+1] == indexes[to]+1 {
			to++
		}
		if len(runs) == runsShown {
			return strings.Join(runs, ", ") + " and " + Count(int64(len(indexes)-from)) + " more"
		}
		run := strconv.Itoa(indexes[from])
		if to > from {
			run += "–" + strconv.Itoa(indexes[to])
		}
		runs, from = append(runs, run), to+1
	}
	return strings.Join(runs, ", ")
}
