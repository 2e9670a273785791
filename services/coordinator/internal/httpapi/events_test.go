package httpapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestBadPagesOfEventsAreRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, query := range []string{
		"limit=0", "limit=-1", "limit=1001", "limit=", "limit=x", "limit=1.0", "limit=99999999999999999999", "limit=1&limit=2",
		"after=x", "after=1", "after=-", "after=1-", "after=$", "after=%00", "after=1-0&after=1-0", "after=%zz",
		"after=" + strings.Repeat("1", 100) + "-0", "after=<script>-0", "limit=1;after=1-0",
	} {
		requireRefusal(t, a.call(t, "GET", billing+"/events?"+query, ""), 400, protocol.CodeInvalidRequest, query)
	}
	require.Empty(t, a.seen())
	require.Equal(t, 405, a.call(t, "POST", billing+"/events", "{}").status)
	a.call(t, "GET", billing+"/events?after=&limit=1", "")
	require.Equal(t, []string{`Events orders billing "" 1`}, a.seen())
}
