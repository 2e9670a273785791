package protocol_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestTimestampsAreWrittenInUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 5*3600+1800)
	for want, at := range map[string]protocol.Timestamp{
		`"2026-01-01T00:00:00.000Z"`: {Time: time.Date(2026, 1, 1, 5, 30, 0, 0, east)},
		`"2026-01-01T00:00:00.007Z"`: {Time: time.Date(2026, 1, 1, 0, 0, 0, 7_999_999, time.UTC)},
		`"1970-01-01T00:00:00.000Z"`: protocol.AtMillis(0),
		`"2001-09-09T01:46:40.123Z"`: protocol.AtMillis(1_000_000_000_123),
		`"9999-12-31T23:59:59.999Z"`: protocol.AtMillis(253_402_300_799_999),
	} {
		data, err := json.Marshal(at)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}
}

func TestTimestampsAreReadFromAnyZone(t *testing.T) {
	t.Parallel()
	want := protocol.AtMillis(1_767_225_600_120)
	for _, text := range []string{`"2026-01-01T00:00:00.12Z"`, `"2026-01-01T05:30:00.120+05:30"`, `"2025-12-31T23:00:00.120000000-01:00"`} {
		var at protocol.Timestamp
		require.NoError(t, json.Unmarshal([]byte(text), &at))
		require.True(t, want.Equal(at.Time), text)
		data, err := json.Marshal(at)
		require.NoError(t, err)
		require.Equal(t, `"2026-01-01T00:00:00.120Z"`, string(data))
	}
	for _, text := range []string{`""`, `"yesterday"`, `1767225600120`, `{}`, `"2026-01-01"`, `"2026-01-01 00:00:00Z"`, `"2026-13-01T00:00:00Z"`} {
		var at protocol.Timestamp
		require.ErrorContains(t, json.Unmarshal([]byte(text), &at), "read timestamp", text)
	}
}

func TestMillisecondsSurviveTheWire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := protocol.AtMillis(rapid.Int64Range(0, 253_402_300_799_999).Draw(t, "ms"))
		data, err := json.Marshal(want)
		require.NoError(t, err)
		var at protocol.Timestamp
		require.NoError(t, json.Unmarshal(data, &at))
		require.Equal(t, want, at)
	})
}

// TestTimesOfAReportAreWrittenLikeAllOthers: also those that a client sends.
func TestTimesOfAReportAreWrittenLikeAllOthers(t *testing.T) {
	t.Parallel()
	at := protocol.Timestamp{Time: time.Date(2026, 1, 1, 1, 0, 0, 123_456_789, time.FixedZone("", 3600))}
	data, err := json.Marshal([]any{
		protocol.RevokingShard{State: protocol.Revoked, AckedAt: &at}, protocol.ShardProgress{UpdatedAt: &at},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"shard":{"shardIndex":0},"state":"REVOKED","inFlight":0,"ackedAt":"2026-01-01T00:00:00.123Z"},
		{"shard":{"shardIndex":0},"streamKey":"","lastDeliveredId":null,"lastAckedId":null,"pendingCount":0,"updatedAt":"2026-01-01T00:00:00.123Z"}]`, string(data))
}

// TestTimingDefaultsKeepTheOrderingsOfTheProtocol (H3, H5, A4).
func TestTimingDefaultsKeepTheOrderingsOfTheProtocol(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, protocol.DefaultClientLease, protocol.DefaultMemberLease*8/10)
	require.GreaterOrEqual(t, protocol.DefaultRebalanceTimeout, 2*protocol.DefaultMemberLease)
	require.LessOrEqual(t, protocol.DefaultHeartbeatInterval, protocol.DefaultClientLease/2)
	require.Less(t, protocol.DefaultHintInterval, protocol.DefaultHeartbeatInterval)
	require.GreaterOrEqual(t, protocol.DefaultRoutingLease, 5*time.Second)
}
