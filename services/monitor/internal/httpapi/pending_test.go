package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

const pendingOf = billing + "/shards/1/pending"

func (r *reader) lastPending(t *testing.T) httpapi.AskPending {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.pending)
	return r.pending[len(r.pending)-1]
}

// Monitoring, APIs: a bad cursor is 400, a limit is moved into 1 … 1000.
func TestPendingEntriesAreAskedForAsTheQuerySays(t *testing.T) {
	t.Parallel()
	m := serving(t)
	m.get(http.StatusOK, pendingOf)
	asked := m.reader.lastPending(t)
	require.Equal(t, "orders:1", asked.Shard.Key)
	require.Equal(t, []string{"orders", "billing", "", ""}, []string{asked.Stream, asked.Group, asked.Consumer, asked.Cursor})
	require.Equal(t, 25, asked.Limit)
	m.get(http.StatusOK, pendingOf+"?cursor=5-1&consumer=m%201%26x&limit=9999")
	asked = m.reader.lastPending(t)
	require.Equal(t, []string{"m 1&x", "5-1"}, []string{asked.Consumer, asked.Cursor})
	require.Equal(t, 1000, asked.Limit)
	m.get(http.StatusOK, pendingOf+"?limit=-3")
	require.Equal(t, 1, m.reader.lastPending(t).Limit)
	for _, query := range []string{
		"limit=x", "cursor=1-0&cursor=2-0", "consumer=a&consumer=b", "Consumer=a", "cursor=" + strings.Repeat("1", 42), "consumer=" + strings.Repeat("c", 1025), "a=1;b=2",
	} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, pendingOf+"?"+query), query)
	}
	for _, shard := range []string{"x", "-1", "01", "99999999"} {
		require.Equal(t, protocol.CodeInvalidRequest, m.code(400, billing+"/shards/"+shard+"/pending"))
	}
	m.reader.err = protocol.Errorf(protocol.CodeNotFound, "no such group in Redis")
	require.Equal(t, protocol.CodeNotFound, m.code(404, pendingOf))
}
