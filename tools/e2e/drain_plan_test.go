package e2e_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// planned is a mutation with its plan.
type planned struct {
	what string
	plan func() (*protocol.Plan, error)
	do   func() error
	// over waits until what was ordered is done; nil where it is done at once.
	over func()
	// refused is the code of the refusal, "" for none.
	refused protocol.Code
	status  int
}

// Protocol L11: what a dry run answers is what then happens, and by itself it changes
// nothing.
func TestDryRunsTellWhatThenHappens(t *testing.T) {
	t.Parallel()
	s := startSuite(t, drainTiming()...)
	p := &planning{drainage: &drainage{suite: s, rdb: s.connect()}}
	p.carryOut(p.createStream(4, group, "second"), p.createGroup("third", nil),
		refusedWith(p.createGroup("third", nil), http.StatusConflict, protocol.CodeGroupAlreadyExists),
		refusedWith(p.createGroup("fourth", new(5)), http.StatusConflict, protocol.CodeShardCountMismatch),
		refusedWith(p.createStream(4, group), http.StatusConflict, protocol.CodeStreamAlreadyExists))
	a, b := p.read("a"), p.read("b")
	p.stable(2)
	p.carryOut(p.scaleTo(7), p.scaleTo(7), p.scaleTo(3))
	require.Equal(t, protocol.MigrationDeprecated, p.look(p.last).State)
	p.carryOut(refusedWith(p.rollback(), http.StatusUnprocessableEntity, protocol.CodeRollbackNotAllowed))

	release := p.occupy(1, 2) // it is under way for as long as it is wanted
	require.NoError(t, p.scaleTo(1).do())
	p.until(p.last, func(l looked) bool { return l.State == protocol.MigrationActive }, "the next one is under way")
	const conflict = http.StatusConflict
	p.carryOut(refusedWith(p.scaleTo(5), conflict, protocol.CodeActiveMigrationExists),
		refusedWith(p.createGroup("fourth", nil), conflict, protocol.CodeActiveMigrationExists),
		refusedWith(p.deleteGroup("third", protocol.DeleteRequest{}), conflict, protocol.CodeActiveMigrationExists),
		refusedWith(p.deleteStream(protocol.DeleteRequest{}), conflict, protocol.CodeActiveMigrationExists),
		p.rollback())
	release()
	p.carryOut(refusedWith(p.deleteGroup(group, protocol.DeleteRequest{}), conflict, protocol.CodeGroupHasActiveMembers),
		p.deleteGroup("third", protocol.DeleteRequest{DeleteStreams: true}),
		refusedWith(p.deleteStream(protocol.DeleteRequest{DeleteStreams: true}), conflict, protocol.CodeGroupHasActiveMembers))
	a.stop()
	b.stop()
	p.eventually(func() bool {
		view, err := p.admin.Group(t.Context(), stream, group)
		require.NoError(t, err)
		return view.State == protocol.GroupEmpty
	}, "nobody is left")
	p.carryOut(p.deleteStream(protocol.DeleteRequest{DeleteStreams: true}))
}

// The same for a scale-out that is undone after producers were told of it: its shards become
// removed ones (protocol L8).
func TestADryRunTellsWhatTheRollbackOfAScaleOutDoes(t *testing.T) {
	t.Parallel()
	s := startSuite(t, drainTiming()...)
	p := &planning{drainage: &drainage{suite: s, rdb: s.connect()}}
	p.create(stream, 2)
	guest := p.startStubborn()
	p.read("a")
	guest.while(func() bool {
		members, err := p.admin.Members(t.Context(), stream, group)
		require.NoError(t, err)
		return len(members) == 2
	}, "the reader has joined")
	p.last = p.scale(5)
	guest.while(func() bool { return p.look(p.last).State == protocol.MigrationActive }, "the added shards are in use")
	p.beat = guest.insist
	p.carryOut(p.rollback())
}

// occupy keeps shards from being sealed, by a Redis group of somebody else that does not read
// what is there, until the returned function is called.
func (p *planning) occupy(indexes ...int) (release func()) {
	p.t.Helper()
	for _, index := range indexes {
		p.add(index, 1)
		require.NoError(p.t, p.rdb.XGroupCreate(p.t.Context(), routing.StreamKey(stream, index), "guests", "0").Err())
	}
	return func() {
		p.t.Helper()
		for _, index := range indexes {
			require.NoError(p.t, p.rdb.XGroupDestroy(p.t.Context(), routing.StreamKey(stream, index), "guests").Err())
		}
	}
}

// planning is a stream on which mutations are planned and carried out.
type planning struct {
	*drainage
	last string // id of the last resharding
	beat func() // keeps somebody alive meanwhile; may be nil
}

// facts is what a plan speaks of.
type facts struct {
	groups []string
	routed int   // shard count that producers see
	shards []int // that they see
	target map[string]map[string][]int
	keys   []string // of everything in Redis
}

// carryOut asks for the plan of each mutation, looks whether that changed nothing, makes the
// mutation, and looks whether the plan was true.
func (p *planning) carryOut(mutations ...planned) {
	p.t.Helper()
	for _, one := range mutations {
		before := p.facts()
		plan, err := one.plan()
		require.NoError(p.t, err, one.what)
		again, err := one.plan()
		require.NoError(p.t, err, one.what)
		require.Equal(p.t, plan, again, one.what)
		require.Equal(p.t, before, p.facts(), "%s: a dry run changes nothing", one.what)

		err = one.do()
		if one.refused != "" {
			requireCode(p.t, err, one.status, one.refused)
			refusal, _ := errors.AsType[*protocol.Error](err)
			require.Equal(p.t, &protocol.PlanRefusal{ErrorCode: refusal.Code, Message: refusal.Message}, plan.Refusal, one.what)
			require.Equal(p.t, before, p.facts(), "%s is refused", one.what)
			continue
		}
		require.NoError(p.t, err, one.what)
		require.Nil(p.t, plan.Refusal, one.what)
		if one.over != nil {
			one.over()
		}
		p.requireTrue(one.what, plan, before, p.facts())
	}
}

// requireTrue compares a plan with the facts before and after its mutation.
func (p *planning) requireTrue(what string, plan *protocol.Plan, before, after facts) {
	p.t.Helper()
	require.Equal(p.t, stream, plan.StreamPrefix, what)
	require.Equal(p.t, []int{before.routed, after.routed}, []int{plan.FromShardCount, plan.ToShardCount}, what)
	require.Equal(p.t, without(after.shards, before.shards), plan.ShardsAdded, "%s: added", what)
	require.Equal(p.t, without(before.shards, after.shards), plan.ShardsRemoved, "%s: removed", what)
	for index := range max(before.routed, after.routed) {
		kind := p.rdb.Type(p.t.Context(), routing.StreamKey(stream, index)).Val()
		require.Equal(p.t, slices.Contains(after.shards, index), kind == "stream", "%s: shard %d is a %s", what, index, kind)
	}
	for _, one := range plan.Groups {
		require.Equal(p.t, movesBetween(before.target[one.ConsumerGroup], after.target[one.ConsumerGroup]), one.Moves,
			"%s: moves of group %s", what, one.ConsumerGroup)
	}
	names := groupNamesOf(plan)
	switch plan.Action {
	case protocol.PlanCreate:
		require.Equal(p.t, without(after.groups, before.groups), names, what)
	case protocol.PlanDelete:
		require.Equal(p.t, without(before.groups, after.groups), names, what)
	case protocol.PlanScale, protocol.PlanRollback:
		require.Equal(p.t, before.groups, after.groups, what)
		if plan.FromShardCount == plan.ToShardCount {
			require.Empty(p.t, names, "%s: nothing happens to anybody", what)
			break
		}
		require.Equal(p.t, before.groups, names, what)
	}
	p.t.Logf("%s: %d to %d shards, added %v, removed %v, groups %v, warnings %d", what, plan.FromShardCount, plan.ToShardCount,
		plan.ShardsAdded, plan.ShardsRemoved, plan.Groups, len(plan.Warnings))
}

func (p *planning) facts() facts {
	p.t.Helper()
	if p.beat != nil {
		p.beat()
	}
	ctx := p.t.Context()
	f := facts{groups: []string{}, shards: []int{}, target: map[string]map[string][]int{}}
	f.keys = slices.DeleteFunc(p.rdb.Keys(ctx, "*").Val(), func(key string) bool { return strings.HasSuffix(key, ":lease") })
	slices.Sort(f.keys)
	found, err := p.admin.Stream(ctx, stream)
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		require.Equal(p.t, protocol.CodeStreamNotFound, refusal.Code)
		return f
	}
	require.NoError(p.t, err)
	f.routed, f.shards = found.ShardCount, indexRange(0, found.ShardCount)
	f.groups = slices.Sorted(slices.Values(found.ConsumerGroups))
	for _, name := range f.groups {
		view, err := p.admin.Assignments(ctx, stream, name)
		require.NoError(p.t, err)
		f.target[name] = map[string][]int{}
		for member, shards := range view.TargetAssignment {
			for _, shard := range shards {
				f.target[name][member] = append(f.target[name][member], shard.ShardIndex)
			}
		}
	}
	return f
}
