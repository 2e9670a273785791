package codec_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
)

func TestDetailKeepsWhatMonitoringShowsOfAReport(t *testing.T) {
	t.Parallel()
	delivered, updated := "5-0", protocol.Timestamp{Time: time.UnixMilli(1_767_225_600_123).UTC()}
	progress := []protocol.ShardProgress{
		{Shard: protocol.ShardID{ShardIndex: 3}, StreamKey: "orders:3", LastDeliveredID: &delivered, PendingCount: 4, UpdatedAt: &updated},
		{Shard: protocol.ShardID{ShardIndex: 4}, Error: protocol.ShardErrorGroupMissing},
	}
	d := codec.DetailOf(&protocol.HeartbeatRequest{
		MetadataVersion: 7, OwnedShards: []protocol.ShardID{{ShardIndex: 4}, {ShardIndex: 3}}, ShardProgress: progress,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 8, AvailableConcurrency: 5},
	})
	require.Equal(t, codec.Detail{Version: 7, Max: 8, Free: 5, Owned: []int{4, 3}, Progress: progress}, d)
	data, err := codec.EncodeDetail(d)
	require.NoError(t, err)
	require.Equal(t, d, codec.DecodeDetail(data))
}

func TestDetailOfAnEmptyReportTakesNoRoom(t *testing.T) {
	t.Parallel()
	data, err := codec.EncodeDetail(codec.DetailOf(&protocol.HeartbeatRequest{}))
	require.NoError(t, err)
	require.Equal(t, "{}", string(data))
	require.Zero(t, codec.DecodeDetail(data))
}

// TestUnreadableDetailIsEmpty: it decides nothing, so it stops nothing either.
func TestUnreadableDetailIsEmpty(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "null", "[]", "{", `{"v":"7"}`, `{"v":7}x`, `{"v":7,"new":1}`, `{"v":7,"p":[{"updatedAt":"yesterday"}]}`, "\x00\xff"} {
		require.Zero(t, codec.DecodeDetail([]byte(data)), data)
	}
	require.Zero(t, codec.DecodeDetail(nil))
}
