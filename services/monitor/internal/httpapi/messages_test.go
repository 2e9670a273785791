package httpapi_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const rows = rowsOf + "/messages?streamPrefix=orders&consumerGroup=billing"

// Monitoring, APIs: bad cursor, id or direction is 400, a limit is moved into 1 … 1000.
func TestALimitIsMovedIntoWhatIsAllowed(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for given, want := range map[string]int{
		"": 25, "1": 1, "25": 25, "1000": 1000, "0": 1, "-5": 1, "1001": 1000, "9223372036854775807": 1000, "-9223372036854775807": 1, "007": 7,
	} {
		m.get(http.StatusOK, billing+"/shards/0/messages?limit="+given)
		require.Equal(t, want, m.reader.last(t).Limit, given)
		m.get(http.StatusOK, rows+"&limit="+given)
		require.Equal(t, want, m.reader.last(t).Limit, given)
	}
	for _, given := range []string{"x", "1.5", "-", "0x10", "1e3", "+1", "%201"} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rows+"&limit="+given), given)
	}
}

func TestAPageIsAskedForAsTheQuerySays(t *testing.T) {
	t.Parallel()
	m := serving(t)
	m.get(http.StatusOK, billing+"/shards/1/messages")
	asked := m.reader.last(t)
	require.Equal(t, protocol.DirectionBackward, asked.Direction)
	require.Equal(t, "orders:1", asked.Shards[0].Key)
	require.Len(t, asked.Shards, 1)
	m.get(http.StatusOK, billing+"/shards/1/messages?direction=FORWARD&cursor=5-1&recordId=5-2&limit=2")
	asked = m.reader.last(t)
	require.Equal(t, protocol.DirectionForward, asked.Direction)
	require.Equal(t, []string{"5-1", "5-2"}, []string{asked.Cursor, asked.RecordID})
	for _, query := range []string{"direction=forward", "direction=UP", "direction=FORWARD&direction=FORWARD", "cursor=1&cursor=2", "Cursor=1"} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rows+"&"+query), query)
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, billing+"/shards/1/messages?"+query), query)
	}
}

func TestADashboardChoosesOneShardOrAll(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for _, all := range []string{"all", ".*", "__all", "$__all"} {
		m.get(http.StatusOK, rows+"&shardIndex="+all)
		require.True(t, m.reader.last(t).AllShards)
		require.Len(t, m.reader.last(t).Shards, 2)
	}
	for given, key := range map[string]string{"": "orders:0", "&shardIndex=": "orders:0", "&shardIndex=1": "orders:1"} {
		m.get(http.StatusOK, rows+given)
		require.False(t, m.reader.last(t).AllShards)
		require.Equal(t, key, m.reader.last(t).Shards[0].Key)
	}
	require.JSONEq(t, "[]", string(m.get(200, rows+"&shardIndex=7")))
	for _, given := range []string{"x", "-1", "All", "1,2"} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rows+"&shardIndex="+given), given)
	}
}

func TestWhatTheReaderRefusesIsPassedOn(t *testing.T) {
	t.Parallel()
	m := serving(t)
	m.reader.err = protocol.Errorf(protocol.CodeInvalidRequest, "the cursor is none")
	require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rows+"&cursor=x"))
	m.reader.err = errors.New("secret")
	require.NotContains(t, string(m.get(500, rows)), "secret")
}
