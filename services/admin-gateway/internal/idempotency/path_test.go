package idempotency_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestSecurityNoSpellingOfAPathCarriesAChangeOutAgain(t *testing.T) {
	t.Parallel()
	k, _ := newKeeper()
	var s service
	table := route.New(route.Config{})
	for i, path := range []string{
		"/coord/v1/streams/orders/scale", "/coord/v1/streams/%6Frders/scale", "/%63oord/v1/streams/%6f%72ders/%73cale",
	} {
		found, err := table.Match(http.MethodPost, path, "a=1&b=%32")
		require.NoError(t, err)
		require.True(t, found.Mutation)
		a := asked{by: "ops", method: found.Method, path: found.Path, query: found.Query, body: "aa", keys: []string{"k"}}
		require.Equal(t, i > 0, send(k, a, s.accept).replayed(), path)
	}
	require.EqualValues(t, 1, s.calls.Load())
}
