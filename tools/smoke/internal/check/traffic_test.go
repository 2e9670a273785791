package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func assigned(members map[string][]int) *protocol.AssignmentsResponse {
	answer := &protocol.AssignmentsResponse{CurrentAssignments: map[string][]protocol.ShardID{}}
	for member, shards := range members {
		for _, shard := range shards {
			answer.CurrentAssignments[member] = append(answer.CurrentAssignments[member], protocol.ShardID{ShardIndex: shard})
		}
	}
	return answer
}

func TestShardsAreSharedWhenEachHasOneOwnerAndEnoughOwnSome(t *testing.T) {
	t.Parallel()
	seen, err := owners(assigned(map[string][]int{"a": {0, 2}, "b": {1, 3}, "idle": nil}), 4, 2)
	require.NoError(t, err)
	require.Contains(t, seen, "a has 2, b has 2, of 4 shards")

	for told, members := range map[string]map[string][]int{
		"shard 3 has 0 owners": {"a": {0, 1}, "b": {2}},
		"shard 1 has 2 owners": {"a": {0, 1}, "b": {1, 2, 3}},
		"1 members own shards": {"a": {0, 1, 2, 3}, "idle": nil},
		"has shard 4 of 4":     {"a": {0, 1, 2, 3}, "b": {4}},
	} {
		_, err := owners(assigned(members), 4, 2)
		require.ErrorContains(t, err, told)
	}
	broken := assigned(map[string][]int{"a": {0}, "b": {1}})
	broken.InvariantViolations = []string{"two readers"}
	_, err = owners(broken, 2, 2)
	require.ErrorContains(t, err, "two readers")
}

func TestOnlyShardsWithADeliveryCount(t *testing.T) {
	t.Parallel()
	id := "7-0"
	offsets := &protocol.StreamShardOffsetsResponse{Shards: []protocol.StreamShardOffset{
		{Shard: protocol.ShardID{ShardIndex: 0}, GroupLastDeliveredID: &id}, {Shard: protocol.ShardID{ShardIndex: 1}},
	}}
	require.Equal(t, map[int]string{0: "7-0"}, delivered(offsets))
	require.Equal(t, "rates not known yet", rates(offsets), "what is not known is not made up")
}
