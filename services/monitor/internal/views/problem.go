package views

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// problemsOf lists what somebody should look at, the group's first, then by shard; never nil.
func problemsOf(round facts.Round, g *facts.Group, shards []shard) []protocol.GroupProblem {
	problems := groupProblems(round, g)
	for _, shard := range shards {
		for _, p := range shard.problems() {
			index := shard.Index
			p.ShardIndex = &index
			problems = append(problems, p)
		}
	}
	return problems
}

func groupProblems(round facts.Round, g *facts.Group) []protocol.GroupProblem {
	problems := []protocol.GroupProblem{}
	if g.Problem != "" {
		problems = append(problems, protocol.GroupProblem{Problem: g.Problem})
	}
	if round.Problem != "" {
		problems = append(problems, protocol.GroupProblem{Problem: protocol.ProblemStructure, Detail: round.Problem})
	}
	for _, violation := range g.Assignments.InvariantViolations {
		problems = append(problems, protocol.GroupProblem{Problem: protocol.ProblemInvariant, Detail: violation})
	}
	for _, shard := range g.View.UnassignedShards {
		problems = append(problems, protocol.GroupProblem{Problem: protocol.ProblemUnassigned, ShardIndex: &shard})
	}
	for _, shard := range g.View.LostShards {
		problems = append(problems, protocol.GroupProblem{Problem: protocol.ProblemLost, ShardIndex: &shard})
	}
	return problems
}

// problems lists what is wrong with the group on a shard. A lag that is unknown because the
// shard is, is no second problem.
func (s shard) problems() []protocol.GroupProblem {
	var problems []protocol.GroupProblem
	if problem := s.problem(); problem != nil {
		return append(problems, protocol.GroupProblem{Problem: *problem, Detail: s.Detail})
	}
	if !s.rate.Lag.Known() {
		problems = append(problems, protocol.GroupProblem{Problem: string(s.rate.Lag.Reason)})
	}
	if s.rate.TrimmedUnreadAlarm {
		detail := "entries"
		if s.rate.TrimmedUnread != nil {
			detail = fmt.Sprintf("%d entries", *s.rate.TrimmedUnread)
		}
		problems = append(problems, protocol.GroupProblem{
			Problem: protocol.ProblemTrimmedUnread, Detail: detail + " went away before they were read",
		})
	}
	if s.rate.Regressed {
		problems = append(problems, protocol.GroupProblem{Problem: protocol.ProblemRegressed})
	}
	return problems
}

// problemOf names the first thing that is wrong with the observation of a group, nil for none.
func problemOf(round facts.Round, g *facts.Group, shards []shard) *string {
	if g.Problem != "" {
		return &g.Problem
	}
	if round.Problem != "" {
		problem := protocol.ProblemStructure
		return &problem
	}
	for _, shard := range shards {
		if problem := shard.problem(); problem != nil {
			return problem
		}
	}
	return nil
}
