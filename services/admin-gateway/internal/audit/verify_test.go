package audit

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
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

func TestTheChainIsVerifiedByWhoReadsItThroughTheAPI(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := sinkOf(rdb, "a")
	a := New(Config{GatewayID: "a", OnFailure: Refuse, Buffer: 10, Timeout: time.Minute}, sink, sink, clock.Now, nil)
	for i := range 25 {
		e := scaling(`{"reason":"<\u2028\u202e & \"\u0000zwölf \ud83d\ude00> ` + strconv.Itoa(i) + `","initialPosition":"\u001b[2J"}`)
		e.Principal.Name = "a\xffb\r\n"
		pass(t, a, e, nil, accept)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.Query(w, r.WithContext(exchange.With(r.Context(), &exchange.Exchange{})))
	}))
	defer server.Close()
	c, err := client.New(client.Options{CoordinatorURL: server.URL, HTTPClient: server.Client()})
	require.NoError(t, err)

	records, head := download(t, c.Admin(), 7)
	require.Len(t, records, 50)
	require.Empty(t, audit.Verify(records, head), "each intent has its outcome, and each text its hash")

	entries := rdb.XRange(t.Context(), globalStream, "-", "+").Val()
	require.NoError(t, rdb.XDel(t.Context(), globalStream, entries[20].ID).Err())
	records, head = download(t, c.Admin(), 1000)
	require.Equal(t, []audit.Kind{audit.Missing}, faults(audit.Verify(records, head)))
	require.NoError(t, rdb.XDel(t.Context(), globalStream, entries[49].ID).Err())
	records, head = download(t, c.Admin(), 1)
	require.Equal(t, []audit.Kind{audit.Missing, audit.EndMissing}, faults(audit.Verify(records, head)))
}
