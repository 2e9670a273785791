package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheAuditIsAskedForWithItsConditions(t *testing.T) {
	t.Parallel()
	var asked string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.RequestURI
		answer(w, http.StatusOK, `{"records":[{"sequence":7,"principal":"ann"}],"next":"6-0","head":null}`)
	})
	page, err := client.Audit(t.Context(), AuditQuery{})
	require.NoError(t, err)
	require.Equal(t, "GET /coord/v1/audit", asked)
	require.Equal(t, int64(7), page.Records[0].Sequence)
	require.Equal(t, "6-0", *page.Next)

	at := time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600))
	_, err = client.Audit(t.Context(), AuditQuery{
		StreamPrefix: "a&b", ConsumerGroup: "g", Principal: "ann", From: at, To: at.Add(time.Hour), Cursor: "6-0", Limit: 5,
	})
	require.NoError(t, err)
	require.Equal(t, "GET /coord/v1/audit?consumerGroup=g&cursor=6-0&from=2026-01-02T02%3A04%3A05.006Z&limit=5"+
		"&principal=ann&streamPrefix=a%26b&to=2026-01-02T03%3A04%3A05.006Z", asked)
}
