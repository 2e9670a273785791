package catalog_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// planned takes a plan and checks that asking wrote nothing.
func (b *bench) planned(ask func() (protocol.Plan, error)) protocol.Plan {
	b.t.Helper()
	before := b.versions()
	plan, err := ask()
	require.NoError(b.t, err)
	require.Equal(b.t, before, b.versions())
	return plan
}

func (b *bench) versions() map[store.Key]store.Version {
	b.t.Helper()
	keys, err := b.kept.List(b.t.Context())
	require.NoError(b.t, err)
	versions := map[store.Key]store.Version{}
	for _, key := range keys {
		loaded, err := b.kept.Load(b.t.Context(), key, store.Version{})
		require.NoError(b.t, err)
		versions[key] = loaded.Version
	}
	return versions
}

func (b *bench) planStream(shards *int, groups ...string) protocol.Plan {
	b.t.Helper()
	return b.planned(func() (protocol.Plan, error) {
		return b.catalog.PlanCreateStream(b.t.Context(), "orders", protocol.CreateStreamRequest{InitialShardCount: shards, ConsumerGroups: groups})
	})
}

func (b *bench) planGroup(name string, shards *int) protocol.Plan {
	b.t.Helper()
	return b.planned(func() (protocol.Plan, error) {
		return b.catalog.PlanCreateGroup(b.t.Context(), "orders", name, protocol.CreateGroupRequest{InitialShardCount: shards})
	})
}

func (b *bench) planDelete(name string, req protocol.DeleteRequest) protocol.Plan {
	b.t.Helper()
	return b.planned(func() (protocol.Plan, error) {
		if name == "" {
			return b.catalog.PlanDeleteStream(b.t.Context(), "orders", req)
		}
		return b.catalog.PlanDeleteGroup(b.t.Context(), "orders", name, req)
	})
}

func (b *bench) delete(name string, req protocol.DeleteRequest) error {
	if name == "" {
		_, err := b.catalog.DeleteStream(b.t.Context(), "orders", req)
		return err
	}
	_, err := b.catalog.DeleteGroup(b.t.Context(), "orders", name, req)
	return err
}

// named lists the groups of a plan.
func named(plan protocol.Plan) []string {
	names := []string{}
	for _, g := range plan.Groups {
		names = append(names, g.ConsumerGroup)
	}
	return names
}

// refusedAs checks that a plan names the refusal that the order got.
func refusedAs(t *testing.T, plan protocol.Plan, err error, code protocol.Code) {
	t.Helper()
	requireCode(t, err, code)
	require.NotNil(t, plan.Refusal)
	var fault *protocol.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, protocol.PlanRefusal{ErrorCode: code, Message: fault.Message}, *plan.Refusal)
}

func TestL11PlanOfACreationIsWhatHappens(t *testing.T) {
	t.Parallel()
	b := open(t)
	plan := b.planStream(new(3), "b", "a")
	require.Equal(t, protocol.PlanCreate, plan.Action)
	require.Equal(t, []any{0, 3, []int{0, 1, 2}, []int{}}, []any{plan.FromShardCount, plan.ToShardCount, plan.ShardsAdded, plan.ShardsRemoved})
	require.Nil(t, plan.Refusal)
	require.Empty(t, plan.Warnings)
	require.NoError(t, b.createStream(new(3), "b", "a"))
	shown, err := b.catalog.Stream(t.Context(), "orders")
	require.NoError(t, err)
	require.Equal(t, shown.ConsumerGroups, named(plan))
	require.Equal(t, shown.ShardCount, plan.ToShardCount)
	require.Equal(t, map[string]int{"a": 3, "b": 3}, b.data.made)

	refusedAs(t, b.planStream(new(3), "c"), b.createStream(new(3), "c"), protocol.CodeStreamAlreadyExists)
	refusedAs(t, b.planGroup("a", nil), b.createGroup("a", nil), protocol.CodeGroupAlreadyExists)
	refusedAs(t, b.planGroup("c", new(4)), b.createGroup("c", new(4)), protocol.CodeShardCountMismatch)

	plan = b.planGroup("c", nil)
	require.Nil(t, plan.Refusal)
	require.Empty(t, plan.ShardsAdded)
	require.Equal(t, []string{"c"}, named(plan))
	require.NoError(t, b.createGroup("c", nil))
	require.Equal(t, 3, b.data.made["c"])
}

func TestL11PlanWarnsOfWhatAnOperatorMayNotExpect(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	late, err := b.catalog.PlanCreateGroup(t.Context(), "orders", "late", protocol.CreateGroupRequest{InitialPosition: protocol.PositionLatest})
	require.NoError(t, err)
	require.Len(t, late.Warnings, 1)
	require.Contains(t, late.Warnings[0], "end of the shards")

	key := store.Key{Stream: "orders", Group: "a"}
	loaded, err := b.kept.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), key, loaded.Version, nil)
	require.NoError(t, err)
	repair := b.planGroup("a", nil)
	require.Nil(t, repair.Refusal)
	require.Len(t, repair.Warnings, 1)
	require.Contains(t, repair.Warnings[0], "barrier")
	require.NoError(t, b.createGroup("a", nil))
	require.Equal(t, protocol.StatusRevokePending, b.join("a").Status)

	data := b.planDelete("", protocol.DeleteRequest{DeleteStreams: true})
	require.Len(t, data.Warnings, 1)
	require.Contains(t, data.Warnings[0], "records")
}

func TestL11PlanOfADeletionIsWhatHappens(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "a", "b"))
	require.Equal(t, protocol.StatusOK, b.join("a").Status)
	for _, name := range []string{"a", ""} {
		refusedAs(t, b.planDelete(name, protocol.DeleteRequest{}), b.delete(name, protocol.DeleteRequest{}), protocol.CodeGroupHasActiveMembers)
	}
	force := protocol.DeleteRequest{Force: true}
	plan := b.planDelete("a", force)
	require.Equal(t, protocol.PlanDelete, plan.Action)
	require.Nil(t, plan.Refusal)
	require.Empty(t, plan.ShardsRemoved, "another group reads them")
	require.Equal(t, 2, plan.ToShardCount)
	require.Equal(t, []protocol.GroupPlan{{ConsumerGroup: "a", Moves: []protocol.MemberMove{
		{MemberID: "m", Gains: []int{}, Loses: []int{0, 1}},
	}}}, plan.Groups)
	require.Len(t, plan.Warnings, 1)
	require.NoError(t, b.delete("a", force))
	require.Equal(t, protocol.StatusUnknownMemberID, b.join("a").Status)

	for _, name := range []string{"b", ""} {
		plan = b.planDelete(name, protocol.DeleteRequest{})
		require.Equal(t, []int{0, 1}, plan.ShardsRemoved, "nobody is left")
		require.Zero(t, plan.ToShardCount)
		require.Equal(t, []string{"b"}, named(plan))
	}
	require.NoError(t, b.delete("", protocol.DeleteRequest{}))
	_, err := b.catalog.Routing(t.Context(), "orders", "b")
	requireCode(t, err, protocol.CodeGroupNotFound)

	_, err = b.catalog.PlanDeleteStream(t.Context(), "orders", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeStreamNotFound)
	_, err = b.catalog.PlanDeleteGroup(t.Context(), "orders", "b", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeGroupNotFound)
}

// L1: what a resharding or an unfinished workflow refuses, the plan refuses too.
func TestL11PlansAreRefusedWhileTheStreamIsChanged(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "a", "b"))
	b.data.failing = errors.New("redis is away")
	requireCode(t, b.delete("b", protocol.DeleteRequest{DeleteStreams: true}), protocol.CodeProvisioningFailed)
	b.data.failing = nil
	refusedAs(t, b.planGroup("b", nil), b.createGroup("b", nil), protocol.CodeStateVersionConflict)
	require.Nil(t, b.planDelete("b", protocol.DeleteRequest{}).Refusal, "the same request completes it")
	require.NoError(t, b.delete("b", protocol.DeleteRequest{DeleteStreams: true}))

	b.reshard()
	refusedAs(t, b.planGroup("c", nil), b.createGroup("c", nil), protocol.CodeActiveMigrationExists)
	for _, name := range []string{"a", ""} {
		force := protocol.DeleteRequest{Force: true}
		refusedAs(t, b.planDelete(name, force), b.delete(name, force), protocol.CodeActiveMigrationExists)
	}
	shown, err := b.catalog.Group(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, "R", shown.ActiveMigration.ReshardingID)
	listed, err := b.catalog.Migrations(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, "R", *listed.ActiveReshardingID)
	require.Len(t, listed.Migrations, 1)
	_, err = b.catalog.Migrations(t.Context(), "orders", "nobody")
	requireCode(t, err, protocol.CodeGroupNotFound)
}

// reshard puts a resharding into the stream's record.
func (b *bench) reshard() {
	b.t.Helper()
	key := store.Key{Stream: "orders"}
	loaded, err := b.kept.Load(b.t.Context(), key, store.Version{})
	require.NoError(b.t, err)
	record, err := codec.DecodeStream(loaded.Record.Schema, loaded.Record.Aggregate)
	require.NoError(b.t, err)
	record, err = record.Scaled("R", 5, stream.Order{RequestedBy: "ops"}, "", int64(loaded.Clock))
	require.NoError(b.t, err)
	aggregate, err := codec.EncodeStream(codec.Schema, record)
	require.NoError(b.t, err)
	_, err = b.kept.Commit(b.t.Context(), store.Commit{Key: key, Prev: loaded.Version, Token: "t", Schema: codec.Schema, Aggregate: aggregate})
	require.NoError(b.t, err)
}
