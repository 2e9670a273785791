package client_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestTheSystemTellsOfEveryPart(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.RequestURI != "GET /coord/v1/system" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, `{"parts":[{"service":"gateway","address":null,"problem":null,"process":{"service":"gateway",
			"configuration":[{"key":"redis.url","value":"********","masked":true}]}},
			{"service":"monitor","address":"http://m","problem":"cannot be reached","process":null}]}`)
	}, client.Options{})
	said, err := c.Admin().System(t.Context())
	require.NoError(t, err)
	require.Equal(t, []protocol.SystemSetting{{Key: "redis.url", Value: "********", Masked: true}}, said.Parts[0].Process.Configuration)
	require.Equal(t, "cannot be reached", *said.Parts[1].Problem)
	require.Nil(t, said.Parts[1].Process)
}

func TestWhoIsBoundToStreamsIsNotToldOfTheSystem(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"errorCode":"FORBIDDEN","message":"bound"}`)
	}, client.Options{})
	_, err := c.Admin().System(t.Context())
	require.ErrorIs(t, err, client.ErrForbidden)
}
