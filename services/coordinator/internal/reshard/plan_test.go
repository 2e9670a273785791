package reshard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
)

// targets returns who should read what, by group.
func (b *bench) targets() map[string][]string {
	b.t.Helper()
	targets := map[string][]string{}
	for _, name := range b.stream().Active() {
		targets[name] = slices.Clone(b.group(name).Target)
	}
	return targets
}

// planned takes a plan and checks that asking changed nothing. While a resharding goes on
// others change the record and the groups.
func (b *bench) planned(ask func() (protocol.Plan, error)) protocol.Plan {
	b.t.Helper()
	record, keys := b.stream(), b.keysOf()
	groups := map[string]*group.Group{}
	for _, name := range record.Active() {
		groups[name] = b.group(name)
	}
	plan, err := ask()
	require.NoError(b.t, err)
	if record.Resharding != nil {
		return plan
	}
	require.Equal(b.t, record, b.stream())
	require.Equal(b.t, keys, b.keysOf())
	for name, g := range groups {
		require.Equal(b.t, g, b.group(name))
	}
	return plan
}

// keysOf lists all keys but leases, which the driver takes and gives back.
func (b *bench) keysOf() []string {
	b.t.Helper()
	keys, err := b.rdb.Keys(b.t.Context(), "*").Result()
	require.NoError(b.t, err)
	keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasSuffix(key, ":lease") })
	slices.Sort(keys)
	return keys
}

// happened checks that a plan of a resharding, which ended, is what came about.
func (b *bench) happened(plan protocol.Plan, from int, before map[string][]string) {
	b.t.Helper()
	b.settled()
	to := b.stream().ShardCount
	require.Equal(b.t, from, plan.FromShardCount)
	require.Equal(b.t, to, plan.ToShardCount)
	added, removed := []int{}, []int{}
	for index := from; index < to; index++ {
		added = append(added, index)
	}
	for index := to; index < from; index++ {
		removed = append(removed, index)
	}
	require.Equal(b.t, added, plan.ShardsAdded)
	require.Equal(b.t, removed, plan.ShardsRemoved)
	require.Nil(b.t, plan.Refusal)
	after := b.targets()
	require.Len(b.t, plan.Groups, len(after))
	for i, name := range b.stream().Active() {
		require.Equal(b.t, name, plan.Groups[i].ConsumerGroup)
		require.Equal(b.t, reshard.Moves(before[name], after[name]), plan.Groups[i].Moves, "group %s from %v", name, before[name])
	}
}

func (b *bench) planScale(to int) protocol.Plan {
	b.t.Helper()
	return b.planned(func() (protocol.Plan, error) {
		return b.lead.service.PlanScale(b.t.Context(), b.prefix, protocol.ScaleRequest{TargetShardCount: &to, RequestedBy: "ops"})
	})
}

func (b *bench) planRollback(id string) protocol.Plan {
	b.t.Helper()
	return b.planned(func() (protocol.Plan, error) {
		return b.lead.service.PlanRollback(b.t.Context(), b.prefix, b.someGroup(), id, protocol.RollbackRequest{RequestedBy: "ops"})
	})
}

// L11: groups with three members, with one and with none.
func TestL11PlanOfAScaleIsWhatHappens(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a", "b", "c")
	for i := range 3 {
		b.join("a", fmt.Sprintf("a-%d", i))
	}
	b.join("b", "b-1")
	b.settled()
	from := 3
	for _, to := range []int{7, 2, 11, 4, 0, 5, 1} {
		plan, before := b.planScale(to), b.targets()
		require.Equal(t, protocol.PlanScale, plan.Action)
		require.Equal(t, to < from, slices.ContainsFunc(plan.Warnings, func(w string) bool { return w != "" && w[0] == 'g' }),
			"a group without members is warned of when shards go: %v", plan.Warnings)
		b.becomes(b.scaled(to), protocol.MigrationDeprecated)
		b.happened(plan, from, before)
		from = to
	}
	plan := b.planScale(from)
	require.Empty(t, plan.Warnings)
	require.Nil(t, plan.Refusal)
	require.Empty(t, plan.ShardsAdded)
	require.Empty(t, plan.ShardsRemoved)
	for _, group := range plan.Groups {
		require.Empty(t, group.Moves, "the count that it has")
	}
}

func TestL11PlanOfARollbackIsWhatHappens(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ from, to int }{"scale-in": {5, 2}, "scale-out": {2, 5}}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, test.from, "a", "b")
			b.join("a", "a-1")
			b.join("b", "b-1")
			b.settled()
			b.crew[0].keeps, b.crew[0].skips = []int{0, 1}, []int{4}
			b.join("a", "a-2")
			b.crew[2].skips = []int{4}
			b.await("a hand-over", func() bool { return !b.group("a").Settled() })
			if test.to < test.from {
				b.publish(4, 1)
			}
			id := b.scaled(test.to)
			b.await("the layout is copied", func() bool {
				return b.stream().ShardCount == test.to && b.group("b").ShardCount == test.to && b.group("a").ShardCount == test.to
			})
			if test.to < test.from {
				b.keptFor(id, 4, protocol.DrainUnread)
				b.await("others sealed", func() bool { return b.migration(id).Progress.Done == 2 })
			}
			plan, before := b.planRollback(id), b.targets()
			require.Equal(t, protocol.PlanRollback, plan.Action)
			require.NoError(t, b.rollback(id))
			for _, m := range b.crew {
				m.keeps, m.skips = nil, nil
			}
			b.becomes(id, protocol.MigrationRolledBack)
			b.happened(plan, test.to, before)
		})
	}
}

// L11: a plan names the refusal that the order gets.
func TestL11PlansAreRefusedWithTheCodeOfTheOrder(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a", "b")
	same := func(plan protocol.Plan, err error, code protocol.Code) {
		t.Helper()
		requireCode(t, err, code)
		require.NotNil(t, plan.Refusal)
		require.Equal(t, code, plan.Refusal.ErrorCode)
	}
	b.publish(1, 1)
	id := b.scaled(1)
	_, err := b.scale(4)
	same(b.planScale(4), err, protocol.CodeActiveMigrationExists)
	_, err = b.scale(1)
	same(b.planScale(1), err, protocol.CodeActiveMigrationExists)
	require.Nil(t, b.planRollback(id).Refusal)
	require.NoError(t, b.rollback(id))
	same(b.planRollback(id), b.rollback(id), protocol.CodeRollbackNotAllowed)
	b.becomes(id, protocol.MigrationRolledBack)
	same(b.planRollback(id), b.rollback(id), protocol.CodeRollbackNotAllowed)

	b.do("DEL", b.groupKey("b"))
	_, err = b.scale(4)
	plan, planErr := b.lead.service.PlanScale(t.Context(), b.prefix, protocol.ScaleRequest{TargetShardCount: new(4)})
	require.NoError(t, planErr)
	same(plan, err, protocol.CodeMetadataMissing)
}

func TestL11PlansOfNothingFail(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a")
	_, err := b.lead.service.PlanScale(t.Context(), "nothing", protocol.ScaleRequest{TargetShardCount: new(4)})
	requireCode(t, err, protocol.CodeStreamNotFound)
	_, err = b.lead.service.PlanRollback(t.Context(), b.prefix, "a", "unknown", protocol.RollbackRequest{})
	requireCode(t, err, protocol.CodeMigrationNotFound)
	_, err = b.lead.service.PlanRollback(t.Context(), b.prefix, "nobody", "unknown", protocol.RollbackRequest{})
	requireCode(t, err, protocol.CodeGroupNotFound)
}
