package views_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

func offsets(t *testing.T, change ...func(*facts.Round)) protocol.StreamShardOffsetsResponse {
	t.Helper()
	round, snap := observed(change...)
	response, found := views.Offsets(round, snap, "orders", "billing")
	require.True(t, found)
	return response
}

func TestOffsetsOfAGroup(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	response, found := views.Offsets(round, snap, "orders", "billing")
	require.True(t, found)
	at := protocol.Timestamp{Time: round.At}
	require.Equal(t, protocol.StreamShardOffset{
		StreamPrefix: "orders", ConsumerGroup: "billing", Shard: protocol.ShardID{ShardIndex: 1}, StreamKey: "orders:1", RedisSlot: 12707,
		RedisNodeEndpoint: new("127.0.0.1:7000"), RedisNodeID: new("node"), RedisSlotRangeStart: new(0), RedisSlotRangeEnd: new(16383),
		StreamLength: 110, FirstRecordID: id(1), LastRecordID: id(110), LastGeneratedID: id(110), GroupLastDeliveredID: id(80),
		ConsumerLastDeliveredID: id(70), ConsumerLastAckedID: id(65), PendingCount: 3, Lag: new(int64(30)), MemoryUsageBytes: new(int64(1000)),
		OwnerMemberIDs: []string{"b"}, LagKnown: true, ProducedPerSecond: new(2.0), ConsumedPerSecond: new(4.0),
		ShardSignals: protocol.ShardSignals{
			OldestUnreadAgeMs: new(int64(9919)), OldestPendingAgeMs: new(int64(9920)), TimeToDrainSeconds: new(15.0), TrimmedUnread: new(int64), ObservedAt: &at,
		},
	}, response.Shards[1])
	response.Shards = nil
	require.Equal(t, protocol.StreamShardOffsetsResponse{
		StreamPrefix: "orders", ConsumerGroup: "billing", TotalStreamLength: 220, TotalPendingCount: 6, TotalLag: new(int64(60)),
		TotalMemoryUsageBytes: 2000, MemoryUsageKnown: true, ProducedPerSecond: new(4.0), ConsumedPerSecond: new(8.0),
		GroupSignals: protocol.GroupSignals{
			KnownParts: 2, AllParts: 2, OldestUnreadAgeMs: new(int64(9919)), OldestPendingAgeMs: new(int64(9920)), TimeToDrainSeconds: new(15.0),
			TrimmedUnread: new(int64), ObservedAt: at,
		},
	}, response)
}

func TestOffsetsOfNobody(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	for _, name := range [][2]string{{"orders", "other"}, {"other", "billing"}, {"users", "billing"}, {"", ""}} {
		_, found := views.Offsets(round, snap, name[0], name[1])
		require.False(t, found)
		_, found = views.Consumption(round, name[0], name[1])
		require.False(t, found)
		_, found = views.Group(round, snap, name[0], name[1])
		require.False(t, found)
	}
}

// TestSumsAreNullWhenAPartIsUnknown, with how many are known; those that cannot be null are of
// the known parts.
func TestSumsAreNullWhenAPartIsUnknown(t *testing.T) {
	t.Parallel()
	response := offsets(t, func(r *facts.Round) {
		g := shardOf(r, 0).Groups["billing"]
		g.Lag = nil
		shardOf(r, 0).Groups["billing"] = g
		shardOf(r, 1).Memory = nil
	})
	require.Nil(t, response.TotalLag)
	require.Nil(t, response.ConsumedPerSecond)
	require.InDelta(t, 4, *response.ProducedPerSecond, 1e-9)
	require.Nil(t, response.TimeToDrainSeconds)
	require.Equal(t, 1, response.KnownParts)
	require.Equal(t, 2, response.AllParts)
	require.False(t, response.Partial, "everything was observed")
	require.False(t, response.MemoryUsageKnown)
	require.Equal(t, int64(1000), response.TotalMemoryUsageBytes)
	require.Nil(t, response.Shards[0].Lag)
	require.False(t, response.Shards[0].LagKnown)
	require.Equal(t, protocol.LagUnknown, *response.Shards[0].LagReason)
	require.Equal(t, int64(30), *response.Shards[1].Lag)
}

// TestFieldF35OneMissingKeyDisturbsNoOther: it has its own problem, and the rest is complete.
func TestFieldF35OneMissingKeyDisturbsNoOther(t *testing.T) {
	t.Parallel()
	whole := offsets(t)
	for problem, change := range map[string]func(*facts.Round){
		"STREAM_MISSING": func(r *facts.Round) {
			*shardOf(r, 1) = facts.Shard{Index: 1, Key: "orders:1", At: r.At, Problem: facts.ProblemMissing, Detail: "no such key"}
		},
		"WRONG_TYPE": func(r *facts.Round) {
			*shardOf(r, 1) = facts.Shard{Index: 1, Key: "orders:1", At: r.At, Problem: facts.ProblemWrongType, Detail: "a string"}
		},
		"UNREACHABLE": func(r *facts.Round) {
			*shardOf(r, 1) = facts.Shard{Index: 1, Key: "orders:1", Problem: facts.ProblemUnreachable, Detail: "LOADING"}
		},
		"GROUP_MISSING": func(r *facts.Round) { delete(shardOf(r, 1).Groups, "billing") },
	} {
		t.Run(problem, func(t *testing.T) {
			t.Parallel()
			response := offsets(t, change)
			require.Equal(t, whole.Shards[0], response.Shards[0])
			broken := response.Shards[1]
			require.Equal(t, problem, *broken.Problem)
			require.Equal(t, protocol.LagNotObserved, *broken.LagReason)
			require.Nil(t, broken.Lag)
			require.Nil(t, broken.ConsumedPerSecond)
			require.Nil(t, broken.OldestUnreadAgeMs)
			require.Nil(t, broken.TrimmedUnread)
			require.Equal(t, []string{"b"}, broken.OwnerMemberIDs, "who should read it is known")
			require.True(t, response.Partial)
			require.Equal(t, problem, *response.Problem)
			require.Equal(t, 1, response.KnownParts)
			require.Equal(t, 2, response.AllParts)
			require.Nil(t, response.TotalLag)
			require.Nil(t, response.OldestUnreadAgeMs)
			require.Nil(t, response.OldestPendingAgeMs)
			require.Equal(t, int64(3), response.TotalPendingCount)
		})
	}
}

// TestAMissingShardOfAGroupWithoutMembersIsShown: only a removed one may be gone.
func TestAMissingShardOfAGroupWithoutMembersIsShown(t *testing.T) {
	t.Parallel()
	round, snap := observed(func(r *facts.Round) { *shardOf(r, 1) = facts.Shard{Index: 1, Problem: facts.ProblemMissing} })
	response, found := views.Offsets(round, snap, "orders", "audit")
	require.True(t, found)
	require.Len(t, response.Shards, 2)
	require.True(t, response.Partial)
	require.Len(t, views.ShardOptions(round, "orders", "audit"), 2)
}

// TestAShardThatTheRoundDoesNotHaveIsUnknown, not missing from the sum.
func TestAShardThatTheRoundDoesNotHaveIsUnknown(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*facts.Round){
		"one":    func(r *facts.Round) { groupOf(r).View.ShardCount = 3 },
		"all":    func(r *facts.Round) { r.Streams[0].Shards = nil },
		"stream": func(r *facts.Round) { r.Streams = r.Streams[1:] },
		"one beside a removed one": func(r *facts.Round) {
			removed := *shardOf(r, 1)
			removed.Index = 2
			r.Streams[0].Shards = []facts.Shard{*shardOf(r, 0), removed}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := offsets(t, change)
			require.Nil(t, response.TotalLag)
			require.Nil(t, response.ProducedPerSecond)
			require.Nil(t, response.TrimmedUnread)
			require.Less(t, response.KnownParts, response.AllParts)
			require.GreaterOrEqual(t, response.AllParts, 2)
			require.True(t, response.Partial)
			require.False(t, response.MemoryUsageKnown)
			require.NotNil(t, response.Shards)
		})
	}
}

// TestRemovedShardsCountUntilTheyAreGone (L3, L5, L12).
func TestRemovedShardsCountUntilTheyAreGone(t *testing.T) {
	t.Parallel()
	removed := func(r *facts.Round) {
		r.Streams[0].ShardCount, groupOf(r).View.ShardCount = 1, 1
	}
	gone := func(r *facts.Round) {
		*shardOf(r, 1) = facts.Shard{Index: 1, Key: "orders:1", At: r.At, Problem: facts.ProblemWrongType}
	}
	free := func(r *facts.Round) {
		delete(groupOf(r).Assignments.TargetAssignment, "b")
		delete(groupOf(r).Assignments.CurrentAssignments, "b")
	}
	require.Len(t, offsets(t, removed).Shards, 2, "it is still read")
	require.Len(t, offsets(t, removed, free).Shards, 2, "it is still there")
	require.Len(t, offsets(t, removed, gone).Shards, 2, "somebody is told to read it")
	require.Len(t, offsets(t, removed, gone, free, func(r *facts.Round) { groupOf(r).View.LostShards = []int{1} }).Shards, 2, "it is missed")

	response := offsets(t, removed, gone, free)
	require.Len(t, response.Shards, 1, "it is sealed")
	require.Equal(t, int64(30), *response.TotalLag)
	require.Equal(t, 1, response.AllParts)
	require.False(t, response.Partial)
	require.Nil(t, response.Problem)
}

// TestAnEmptyStreamHasNothingUnread: a known 0, not an unknown one.
func TestAnEmptyStreamHasNothingUnread(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	response, found := views.Offsets(round, snap, "users", "mails")
	require.True(t, found)
	require.Zero(t, *response.TotalLag)
	require.Equal(t, []protocol.StreamShardOffset{}, response.Shards)
	require.False(t, response.Partial)
}

// TestFirstRoundHasNoRates, in JSON as null.
func TestFirstRoundHasNoRates(t *testing.T) {
	t.Parallel()
	round := roundAt(1, 100, 60)
	response, _ := views.Offsets(round, rates.NewBook(0).Add(round), "orders", "billing")
	require.Nil(t, response.ProducedPerSecond)
	require.Nil(t, response.ConsumedPerSecond)
	require.Equal(t, int64(80), *response.TotalLag)
	data, err := json.Marshal(response)
	require.NoError(t, err)
	require.Contains(t, string(data), `"producedPerSecond":null,"consumedPerSecond":null,"knownParts":2,"allParts":2,"partial":false`)
	require.Contains(t, string(data), `"observedAt":"2026-01-01T00:00:05.000Z"`)
}

func TestConsumptionIsWhatMembersSay(t *testing.T) {
	t.Parallel()
	round, _ := observed(func(r *facts.Round) {
		members := groupOf(r).Members
		members[0], members[1] = members[1], members[0]
		members[0].ShardProgress[0].Error = protocol.ShardErrorGroupMissing
	})
	response, found := views.Consumption(round, "orders", "billing")
	require.True(t, found)
	require.Len(t, response.Progress, 2)
	require.Equal(t, protocol.ConsumerShardProgress{
		StreamPrefix: "orders", ConsumerGroup: "billing", MemberID: "a", MemberName: "node a", MemberState: protocol.MemberActive,
		StreamKey: "orders:0", LastDeliveredID: id(70), LastAckedID: id(65), PendingCount: 2,
	}, response.Progress[0])
	require.Equal(t, "GROUP_MISSING", *response.Progress[1].Error)
	response, found = views.Consumption(round, "orders", "audit")
	require.True(t, found)
	require.Equal(t, []protocol.ConsumerShardProgress{}, response.Progress)
}
