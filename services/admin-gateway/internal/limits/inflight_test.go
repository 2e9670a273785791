package limits_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Slow requests of one kind must not starve those of another, nor the gateway's health.
func TestEachKindOfRequestsHasItsOwnBudget(t *testing.T) {
	t.Parallel()
	kinds := map[string]struct {
		route route.Route
		most  int
	}{
		"heartbeats": {route.Route{Access: route.Access{MemberAPI: true}}, 3},
		"streams":    {route.Route{Streams: true}, 2},
		"others":     {route.Route{Service: route.Coordinator}, 4},
		"login":      {route.Route{Service: route.Gateway, Access: route.Access{Public: true}, Method: http.MethodPost}, 0},
	}
	stage := limits.NewInFlight(limits.Budgets{Members: 3, Streams: 2, Others: 4}, httpx.NewAnswers(nil))
	entered, release := make(chan struct{}), make(chan struct{})
	held := stage.Stage(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-release
	}))
	free := stage.Stage(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(handler http.Handler, to route.Route) (*exchange.Exchange, *httptest.ResponseRecorder) {
		e, answer := &exchange.Exchange{Route: to}, httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		handler.ServeHTTP(answer, r.WithContext(exchange.With(r.Context(), e)))
		return e, answer
	}
	var under sync.WaitGroup
	for name, kind := range kinds {
		for range kind.most {
			_, answer := ask(free, kind.route)
			require.Equal(t, 200, answer.Code, name)
			under.Go(func() { ask(held, kind.route) })
			<-entered
		}
	}
	for name, kind := range kinds {
		for range 5 { // refusals take no place
			e, answer := ask(free, kind.route)
			require.Equal(t, 503, answer.Code, name)
			require.Equal(t, protocol.CodeOverloaded, e.Code)
			require.Equal(t, "1", answer.Header().Get("Retry-After"))
		}
	}
	_, answer := ask(free, route.Route{Service: route.Gateway, Access: route.Access{Public: true}, Method: http.MethodGet})
	require.Equal(t, 200, answer.Code, "health is always answered")
	close(release)
	under.Wait()
	for name, kind := range kinds {
		_, answer := ask(free, kind.route)
		require.Equal(t, 200, answer.Code, name)
	}
}

func TestAPlaceIsGivenBackByAPanic(t *testing.T) {
	t.Parallel()
	stage := limits.NewInFlight(limits.Budgets{Members: 1, Streams: 1, Others: 1}, httpx.NewAnswers(nil)).
		Stage(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") }))
	for range 3 {
		require.PanicsWithValue(t, "broken", func() {
			stage.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		})
	}
}
