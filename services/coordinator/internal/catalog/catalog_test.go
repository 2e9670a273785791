package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/catalog"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// data is the data side as the catalog sees it: which Redis groups are on which shards.
type data struct {
	made    map[string]int // group -> shards that carry it
	failing error
}

func (d *data) Provision(_ context.Context, _ string, indexes []int, groups []stream.Group, _ int64) (int, error) {
	existing, shards := 0, len(indexes)
	for _, g := range groups {
		if d.failing != nil {
			d.made[g.Name] = max(d.made[g.Name], shards/2)
			return existing, d.failing
		}
		existing += min(d.made[g.Name], shards)
		d.made[g.Name] = shards
	}
	return existing, nil
}

func (d *data) Destroy(_ context.Context, _ string, _ int, group string) error {
	if d.failing == nil {
		delete(d.made, group)
	}
	return d.failing
}

type bench struct {
	t       *testing.T
	kept    *memstore.Store
	groups  *loop.Loop
	data    *data
	catalog *catalog.Catalog
	nonces  atomic.Int64
}

func open(t *testing.T) *bench {
	t.Helper()
	start := time.Now()
	b := &bench{t: t, data: &data{made: map[string]int{}}}
	b.kept = memstore.New(func() store.Millis { return store.Millis(1_000_000 + time.Since(start).Milliseconds()) })
	log := slog.New(slog.DiscardHandler)
	b.groups = loop.New(loop.DefaultConfig(), b.kept, b.nonce, log)
	b.catalog = catalog.New(catalog.DefaultConfig(), b.kept, b.groups, b.data, b.nonce, log)
	t.Cleanup(func() { require.NoError(t, b.groups.Close(context.WithoutCancel(t.Context()))) })
	return b
}

func (b *bench) nonce() string { return fmt.Sprintf("N%d", b.nonces.Add(1)) }

func (b *bench) createStream(shards *int, groups ...string) error {
	_, err := b.catalog.CreateStream(b.t.Context(), "orders", protocol.CreateStreamRequest{
		InitialShardCount: shards, RequestedBy: "t", ConsumerGroups: groups,
	})
	return err
}

func (b *bench) createGroup(name string, shards *int) error {
	_, err := b.catalog.CreateGroup(b.t.Context(), "orders", name, protocol.CreateGroupRequest{InitialShardCount: shards, RequestedBy: "t"})
	return err
}

func (b *bench) join(name string) *protocol.HeartbeatResponse {
	answer, err := b.groups.Heartbeat(b.t.Context(), "orders", name, &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: "r", MemberID: "m", Incarnation: "i", Sequence: 1,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	})
	require.NoError(b.t, err)
	return answer
}

func requireCode(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var fault *protocol.Error
	require.ErrorAs(t, err, &fault)
	require.Equal(t, code, fault.Code, fault.Message)
}

func TestCreateStreamMakesItsGroups(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(3), "a", "b"))
	shown, err := b.catalog.Stream(t.Context(), "orders")
	require.NoError(t, err)
	require.Equal(t, 3, shown.ShardCount)
	require.Equal(t, []string{"a", "b"}, shown.ConsumerGroups)
	require.Len(t, shown.Groups, 2)
	require.Equal(t, protocol.GroupEmpty, shown.Groups[0].State)
	require.EqualValues(t, 1, shown.Groups[0].GroupEpoch, "J0")
	require.EqualValues(t, 1, shown.Groups[0].MetadataVersion, "J0")
	requireCode(t, b.createStream(new(3), "a"), protocol.CodeStreamAlreadyExists)
}

func TestCreateStreamWithoutGroupsNamesOneAfterThePrefix(t *testing.T) {
	t.Parallel()
	b := open(t)
	made, err := b.catalog.CreateStream(t.Context(), "eu:orders", protocol.CreateStreamRequest{RequestedBy: "t"})
	require.NoError(t, err)
	require.Equal(t, []string{"eu-orders"}, made.ConsumerGroups)
	require.Equal(t, protocol.DefaultInitialShards, made.ShardCount, "J0: the configured default")
}

func TestCreateGroupTakesTheStreamsCount(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(5)))
	require.NoError(t, b.createGroup("b", nil))
	require.NoError(t, b.createGroup("c", new(5)))
	requireCode(t, b.createGroup("d", new(6)), protocol.CodeShardCountMismatch)
	requireCode(t, b.createGroup("a", nil), protocol.CodeGroupAlreadyExists)
	shown, err := b.catalog.Group(t.Context(), "orders", "b")
	require.NoError(t, err)
	require.Equal(t, 5, shown.ShardCount)
	require.Nil(t, shown.BarrierUntil, "fresh keys need no barrier (J1)")
}

func TestFailedProvisioningLeavesNothingActiveAndARetryCompletesIt(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.data.failing = errors.New("orders:2: connection refused")
	err := b.createStream(new(4), "a")
	requireCode(t, err, protocol.CodeProvisioningFailed)
	require.ErrorContains(t, err, "orders:2: connection refused")
	_, err = b.catalog.Stream(t.Context(), "orders")
	requireCode(t, err, protocol.CodeStreamNotFound)
	_, err = b.catalog.Group(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeGroupNotFound)
	_, err = b.catalog.Routing(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeGroupNotFound)
	require.Equal(t, protocol.StatusUnknownMemberID, b.join("a").Status)

	b.data.failing = nil
	require.NoError(t, b.createStream(new(4), "a"))
	shown, err := b.catalog.Group(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.NotNil(t, shown.BarrierUntil, "two shards carried the group before (J1)")
}

func TestGroupOnUsedKeysStartsWithABarrier(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	_, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{})
	require.NoError(t, err)
	require.NoError(t, b.createGroup("a", new(2)))
	answer := b.join("a")
	require.Equal(t, protocol.StatusRevokePending, answer.Status, "T08, A6: no grant before one lease is over")
	require.Equal(t, protocol.ReasonBarrier, answer.Reason)
	require.Empty(t, answer.Assignment.AssignedShards)
}

// J1: with provisioning off nobody looks whether the keys carried the group before, so an
// earlier life may still be reading.
func TestGroupOnKeysThatNobodyLookedAtStartsWithABarrier(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.catalog = catalog.New(catalog.DefaultConfig(), b.kept, b.groups, nil, b.nonce, slog.New(slog.DiscardHandler))
	require.NoError(t, b.createGroup("a", new(2)))
	require.Equal(t, protocol.StatusRevokePending, b.join("a").Status)
}

func TestDeleteRefusesLiveMembersUnlessForced(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "a", "b"))
	require.Equal(t, protocol.StatusOK, b.join("a").Status)
	_, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeGroupHasActiveMembers)
	_, err = b.catalog.DeleteStream(t.Context(), "orders", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeGroupHasActiveMembers)
	before, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{Force: true, DeleteStreams: true})
	require.NoError(t, err)
	require.Equal(t, 2, before.ShardCount)
	require.NotContains(t, b.data.made, "a")
	require.Contains(t, b.data.made, "b", "another group's data stays")
	require.Equal(t, protocol.StatusUnknownMemberID, b.join("a").Status)
	shown, err := b.catalog.Stream(t.Context(), "orders")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, shown.ConsumerGroups)
}

func TestDeletingTheLastGroupEndsTheStream(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	_, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{})
	require.NoError(t, err)
	_, err = b.catalog.Stream(t.Context(), "orders")
	requireCode(t, err, protocol.CodeStreamNotFound)
	_, err = b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeGroupNotFound)
	_, err = b.catalog.DeleteStream(t.Context(), "orders", protocol.DeleteRequest{})
	requireCode(t, err, protocol.CodeStreamNotFound)
	require.NoError(t, b.createGroup("a", new(7)), "another count is fine on a new stream")
}

func TestBrokenDeleteIsCompletedByTheSameRequest(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	b.data.failing = errors.New("redis is away")
	_, err := b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{DeleteStreams: true})
	requireCode(t, err, protocol.CodeProvisioningFailed)
	requireCode(t, b.createGroup("a", nil), protocol.CodeStateVersionConflict)
	b.data.failing = nil
	_, err = b.catalog.DeleteGroup(t.Context(), "orders", "a", protocol.DeleteRequest{DeleteStreams: true})
	require.NoError(t, err)
	require.NoError(t, b.createGroup("a", nil))
}

// M6, F34: metadata that is gone fails closed with a name, and creating it again repairs.
func TestFieldF34LostMetadataFailsClosedUntilCreatedAgain(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "a", "b"))
	loaded, err := b.kept.Load(t.Context(), store.Key{Stream: "orders", Group: "a"}, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), store.Key{Stream: "orders", Group: "a"}, loaded.Version, nil)
	require.NoError(t, err)

	_, err = b.catalog.Group(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataMissing)
	_, err = b.catalog.Members(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataMissing)
	require.Equal(t, protocol.StatusUnknownMemberID, b.join("a").Status)
	require.Equal(t, protocol.StatusOK, b.join("b").Status, "other groups live on")

	require.NoError(t, b.createGroup("a", nil))
	require.Equal(t, protocol.StatusRevokePending, b.join("a").Status, "the repair starts under a barrier")
}

func TestCorruptMetadataIsNamedAndRepairedByCreating(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	key := store.Key{Stream: "orders", Group: "a"}
	loaded, err := b.kept.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Commit(t.Context(), store.Commit{Key: key, Prev: loaded.Version, Token: "x", Schema: codec.Schema, Aggregate: []byte("{}")})
	require.NoError(t, err)
	_, err = b.catalog.Group(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataCorrupt)
	require.NoError(t, b.createGroup("a", nil))
	require.Equal(t, protocol.StatusRevokePending, b.join("a").Status)
}

func TestLostStreamRecordIsNamedAndRebuiltWithTheSameCount(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(3)))
	loaded, err := b.kept.Load(t.Context(), store.Key{Stream: "orders"}, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), store.Key{Stream: "orders"}, loaded.Version, nil)
	require.NoError(t, err)
	_, err = b.catalog.Routing(t.Context(), "orders", "a")
	requireCode(t, err, protocol.CodeMetadataMissing)
	requireCode(t, b.createGroup("a", new(4)), protocol.CodeShardCountMismatch)
	require.NoError(t, b.createGroup("a", new(3)))
	routing, err := b.catalog.Routing(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, 3, routing.ShardCount)
}

func TestRoutingListsEveryShard(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(3)))
	routing, err := b.catalog.Routing(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, protocol.RoutingShard{ShardIndex: 2, StreamKey: "orders:2", RedisSlot: 448}, routing.Shards[2])
	require.EqualValues(t, 10_000, routing.LeaseMs)
	require.Equal(t, "orders:{shardIndex}", routing.StreamKeyPattern)
	again, err := b.catalog.Routing(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, routing, again)
	b.join("a")
	again, err = b.catalog.Routing(t.Context(), "orders", "a")
	require.NoError(t, err)
	require.Equal(t, routing, again, "members that come and go do not change the routing")
}

func TestWorkflowsOfOneStreamExcludeEachOther(t *testing.T) {
	t.Parallel()
	b := open(t)
	lease, err := b.kept.Lease(t.Context(), store.Key{Stream: "orders"}, time.Minute)
	require.NoError(t, err)
	requireCode(t, b.createGroup("a", nil), protocol.CodeStateMutexUnavailable)
	require.NoError(t, lease.Release(t.Context()))
	require.NoError(t, b.createGroup("a", nil))
}

func TestListsSkipWhatIsBroken(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "a", "b"))
	b.kept.Spoil(store.Key{Stream: "orders", Group: "a"}, "revision")
	groups, err := b.catalog.Groups(t.Context())
	require.NoError(t, err)
	require.Len(t, groups.Groups, 1)
	streams, err := b.catalog.Streams(t.Context())
	require.NoError(t, err)
	require.Len(t, streams.Streams, 1)
	require.Equal(t, []string{"a", "b"}, streams.Streams[0].ConsumerGroups)
}
