package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Wire contract, Idempotency-Key.
func TestChangesCarryTheirKeyAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	keys := make(chan []string, 4)
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Values("Idempotency-Key")
		_, _ = io.WriteString(w, `{}`)
	}, client.Options{})
	admin := c.Admin()
	once, err := admin.Once("01JD-key")
	require.NoError(t, err)
	scale := protocol.ScaleRequest{TargetShardCount: new(3), RequestedBy: "me", Reason: "load"}
	_, err = once.Scale(t.Context(), "orders", scale)
	require.NoError(t, err)
	require.Equal(t, []string{"01JD-key"}, <-keys)
	_, err = once.Group(t.Context(), "orders", "g")
	require.NoError(t, err)
	require.Empty(t, <-keys)
	_, err = admin.Scale(t.Context(), "orders", scale)
	require.NoError(t, err)
	require.Empty(t, <-keys, "the Admin it comes from has none")
}

func TestAKeyThatNoGatewayTakesIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(http.ResponseWriter, *http.Request) {}, client.Options{})
	for _, key := range []string{"", strings.Repeat("k", 129), "a\r\nX-Other: 1", "\u00e9"} {
		_, err := c.Admin().Once(key)
		refused := &protocol.Error{}
		require.ErrorAs(t, err, &refused, "%q", key)
		require.Equal(t, protocol.CodeInvalidRequest, refused.Code)
	}
	_, err := c.Admin().Once(strings.Repeat("k", 128))
	require.NoError(t, err)
}
