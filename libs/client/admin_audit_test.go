package client_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestTheAuditIsReadPageByPage(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			_, _ = io.WriteString(w, `{"records":[{"sequence":2,"kind":"OUTCOME","result":"REFUSED"}],"next":"1-0",
				"head":{"chain":"redis","sequence":2,"hash":"h"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"records":[{"sequence":1,"kind":"INTENT"}],"next":null,"head":null}`)
	}, client.Options{})
	page, err := c.Admin().Audit(t.Context(), client.AuditQuery{Principal: "ann"})
	require.NoError(t, err)
	require.Equal(t, protocol.AuditRefused, page.Records[0].Result)
	require.Equal(t, int64(2), page.Head.Sequence)
	page, err = c.Admin().Audit(t.Context(), client.AuditQuery{Principal: "ann", Cursor: *page.Next})
	require.NoError(t, err)
	require.Equal(t, int64(1), page.Records[0].Sequence)
	require.Nil(t, page.Next)
}

func TestAnAuditThatCannotBeAskedIsARefusalWithItsCode(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"errorCode":"REDIS_NOT_CONFIGURED","message":"audit.sink is log"}`)
	}, client.Options{})
	_, err := c.Admin().Audit(t.Context(), client.AuditQuery{})
	var refused *protocol.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, protocol.CodeRedisNotConfigured, refused.Code)
	require.False(t, refused.Retriable())
}
