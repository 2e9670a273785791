package messages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

// What is written as escapes in JSON is six times as long when it is sent, and readers take no
// more than 32 MiB: such a page ends early, and the next one goes on.
func TestAPageIsSentWhateverIsInItsRecords(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	const records, most = 120, 32 << 20
	for i := range records {
		add(t.Context(), t, rdb, "orders:0", fmt.Sprintf("1-%d", i), "payload", strings.Repeat("\x01", protocol.MaxMessagePayload))
	}
	reader, seen := messages.NewReader(rdb), 0
	follow(t.Context(), t, reader, all("orders", 1, protocol.DirectionForward, records), func(rows []protocol.GrafanaMessageRow) {
		text, err := json.Marshal(rows)
		require.NoError(t, err)
		require.Less(t, len(text), most)
		seen += len(rows)
	})
	require.Equal(t, records, seen)
}
