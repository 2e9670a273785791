package audit

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// download reads the whole audit as rscctl does, oldest first.
func download(t *testing.T, admin *client.Admin, limit int) ([]protocol.AuditRecord, *protocol.AuditHead) {
	t.Helper()
	var records []protocol.AuditRecord
	var head *protocol.AuditHead
	for query := (client.AuditQuery{Limit: limit}); ; {
		page, err := admin.Audit(t.Context(), query)
		require.NoError(t, err)
		if query.Cursor == "" {
			head = page.Head
		}
		records = append(records, page.Records...)
		if page.Next == nil {
			slices.Reverse(records)
			return records, head
		}
		query.Cursor = *page.Next
	}
}

func TestWhatIsMissingIsFoundByWhoReadsThroughTheAPI(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := sinkOf(rdb, "a")
	a := New(Config{GatewayID: "a", OnFailure: Refuse, Buffer: 10, Timeout: time.Minute}, sink, sink, clock.Now, nil)
	changes(t, a, 25)
	admin := through(t, a)
	entries := rdb.XRange(t.Context(), globalStream, "-", "+").Val()
	require.NoError(t, rdb.XDel(t.Context(), globalStream, entries[20].ID).Err())
	records, head := download(t, admin, 1000)
	require.Equal(t, []audit.Kind{audit.Missing}, faults(audit.Verify(records, head)))
	require.NoError(t, rdb.XDel(t.Context(), globalStream, entries[49].ID).Err())
	records, head = download(t, admin, 1)
	require.Equal(t, []audit.Kind{audit.Missing, audit.EndMissing}, faults(audit.Verify(records, head)))
}
