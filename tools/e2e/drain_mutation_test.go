package e2e_test

import (
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func refusedWith(mutation planned, status int, code protocol.Code) planned {
	mutation.status, mutation.refused = status, code
	return mutation
}

func (p *planning) createStream(count int, groups ...string) planned {
	req := protocol.CreateStreamRequest{InitialShardCount: &count, ConsumerGroups: groups, RequestedBy: "e2e"}
	return planned{
		what: "create stream",
		plan: func() (*protocol.Plan, error) { return p.admin.PlanCreateStream(p.t.Context(), stream, req) },
		do: func() error {
			_, err := p.admin.CreateStream(p.t.Context(), stream, req)
			return err
		},
	}
}

func (p *planning) createGroup(name string, count *int) planned {
	req := protocol.CreateGroupRequest{InitialShardCount: count, RequestedBy: "e2e"}
	return planned{
		what: "create group " + name,
		plan: func() (*protocol.Plan, error) { return p.admin.PlanCreateGroup(p.t.Context(), stream, name, req) },
		do: func() error {
			_, err := p.admin.CreateGroup(p.t.Context(), stream, name, req)
			return err
		},
	}
}

func (p *planning) deleteGroup(name string, req protocol.DeleteRequest) planned {
	req.RequestedBy, req.Reason = "e2e", "test"
	return planned{
		what: "delete group " + name,
		plan: func() (*protocol.Plan, error) { return p.admin.PlanDeleteGroup(p.t.Context(), stream, name, req) },
		do: func() error {
			_, err := p.admin.DeleteGroup(p.t.Context(), stream, name, req)
			return err
		},
	}
}

func (p *planning) deleteStream(req protocol.DeleteRequest) planned {
	req.RequestedBy, req.Reason = "e2e", "test"
	return planned{
		what: "delete stream",
		plan: func() (*protocol.Plan, error) { return p.admin.PlanDeleteStream(p.t.Context(), stream, req) },
		do: func() error {
			_, err := p.admin.DeleteStream(p.t.Context(), stream, req)
			return err
		},
	}
}

// scaleTo is a scale that is waited for.
func (p *planning) scaleTo(count int) planned {
	req := protocol.ScaleRequest{TargetShardCount: &count, RequestedBy: "e2e", Reason: "test"}
	return planned{
		what: "scale",
		plan: func() (*protocol.Plan, error) { return p.admin.PlanScale(p.t.Context(), stream, req) },
		do: func() error {
			answer, err := p.admin.Scale(p.t.Context(), stream, req)
			if err == nil && answer.Migrations[0].ReshardingID != protocol.NoopReshardingID {
				p.last = answer.Migrations[0].ReshardingID
			}
			return err
		},
		over: func() { p.ends(protocol.MigrationDeprecated) },
	}
}

// rollback is one of the last resharding that is waited for.
func (p *planning) rollback() planned {
	req := protocol.RollbackRequest{RequestedBy: "e2e", Reason: "test"}
	return planned{
		what: "rollback",
		plan: func() (*protocol.Plan, error) { return p.admin.PlanRollback(p.t.Context(), stream, group, p.last, req) },
		do: func() error {
			_, err := p.admin.Rollback(p.t.Context(), stream, group, p.last, req)
			return err
		},
		over: func() { p.ends(protocol.MigrationRolledBack) },
	}
}

// ends waits for the end of the last resharding.
func (p *planning) ends(state protocol.MigrationState) {
	p.t.Helper()
	p.until(p.last, func(l looked) bool {
		if p.beat != nil {
			p.beat()
		}
		return l.State == state
	}, "resharding is "+string(state))
}

func groupNamesOf(plan *protocol.Plan) []string {
	names := make([]string, len(plan.Groups))
	for i, one := range plan.Groups {
		names[i] = one.ConsumerGroup
	}
	return names
}

// without returns those of a that are not in b, in their order.
func without[T comparable](a, b []T) []T {
	rest := []T{}
	for _, one := range a {
		if !slices.Contains(b, one) {
			rest = append(rest, one)
		}
	}
	return rest
}

// movesBetween returns what members get and give up between two targets.
func movesBetween(before, after map[string][]int) []protocol.MemberMove {
	members := map[string]bool{}
	for member := range before {
		members[member] = true
	}
	for member := range after {
		members[member] = true
	}
	moves := []protocol.MemberMove{}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		move := protocol.MemberMove{
			MemberID: member, Gains: without(after[member], before[member]), Loses: without(before[member], after[member]),
		}
		slices.Sort(move.Gains)
		slices.Sort(move.Loses)
		if len(move.Gains)+len(move.Loses) > 0 {
			moves = append(moves, move)
		}
	}
	return moves
}
