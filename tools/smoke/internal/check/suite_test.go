package check

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

func TestAStreamOfATrialThatFailedIsDeleted(t *testing.T) {
	t.Parallel()
	var made, deleted atomic.Int64
	mux := http.NewServeMux()
	stream := func(counter *atomic.Int64) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			counter.Add(1)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"streamPrefix":"` + r.PathValue("stream") + `","shardCount":2}`))
		}
	}
	mux.HandleFunc("POST /coord/v1/streams/{stream}", stream(&made))
	mux.HandleFunc("GET /coord/v1/streams/{stream}", stream(new(atomic.Int64)))
	mux.HandleFunc("DELETE /coord/v1/streams/{stream}", stream(&deleted))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{CoordinatorURL: server.URL})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	suite := &Suite{Admin: c.Admin(), Trial: "smoke-1", Group: "g"}

	require.NoError(t, suite.Leave(t.Context()))
	require.Zero(t, deleted.Load(), "nothing was made")
	seen, err := suite.make(t.Context())
	require.NoError(t, err)
	require.Equal(t, "smoke-1 has 2 shards", seen)
	require.NoError(t, suite.Leave(t.Context()))
	require.NoError(t, suite.Leave(t.Context()))
	require.EqualValues(t, 1, made.Load())
	require.EqualValues(t, 1, deleted.Load())
}

func TestEveryStepSaysWhatItClaimsAndWhereToLook(t *testing.T) {
	t.Parallel()
	suite := &Suite{Stream: "orders", Prometheus: "http://p:9090", Grafana: "http://g:3000"}
	claims := map[string]bool{}
	for _, step := range append(suite.Steps(), suite.Prepare()...) {
		require.NotEmpty(t, step.Next, step.Claim)
		require.NotNil(t, step.Do, step.Claim)
		require.False(t, claims[step.Claim], "%s is there twice", step.Claim)
		claims[step.Claim] = true
	}
	require.Len(t, (&Suite{}).Steps(), len(suite.Steps())-2, "Prometheus and Grafana may be left out")
	require.Contains(t, strings.Join(keys(claims), "\n"), "Grafana answers")
}

func keys(of map[string]bool) []string {
	var list []string
	for key := range of {
		list = append(list, key)
	}
	return list
}
