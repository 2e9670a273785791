package idempotency_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

// gateways are keepers that share a Redis.
func gateways(t *testing.T, server *redisproc.Server) []*idempotency.Keeper {
	t.Helper()
	all := make([]*idempotency.Keeper, 2)
	for i := range all {
		all[i] = idempotency.New(idempotency.NewRedis(server.Client(t), prefix), clock.Now, nil)
	}
	return all
}

func TestSecurityTwoGatewaysReplayEachOthersAnswers(t *testing.T) {
	t.Parallel()
	both := gateways(t, redisproc.Start(t))
	var s service
	require.JSONEq(t, `{"call":1}`, send(both[0], scale("k"), s.accept).Body.String())
	again := send(both[1], scale("k"), s.accept)
	require.True(t, again.replayed())
	require.Equal(t, http.StatusAccepted, again.Code)
	require.Equal(t, "application/json", again.Header().Get("Content-Type"))
	require.JSONEq(t, `{"call":1}`, again.Body.String())
	other := scale("k")
	other.body = "bb"
	require.Equal(t, protocol.CodeIdempotencyKeyReused, send(both[1], other, s.accept).x.Code)
}

func TestSecurityAHundredAtOnceOverTwoGatewaysReachTheServiceOnce(t *testing.T) {
	t.Parallel()
	both := gateways(t, redisproc.Start(t))
	var s service
	var lost atomic.Int64 // by a stalled machine: they may have had the claim
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			a := send(both[i%2], scale("k"), s.accept)
			switch {
			case a.x.Code == protocol.CodeStoreUnavailable:
				lost.Add(1)
			case a.Code != http.StatusAccepted && a.x.Code != protocol.CodeIdempotencyKeyInUse:
				t.Errorf("answered %d %s", a.Code, a.x.Code)
			}
		})
	}
	all.Wait()
	require.LessOrEqual(t, s.calls.Load(), int64(1))
	require.Positive(t, s.calls.Load()+lost.Load())
}

func TestACallerThatGoesAwayStillHasItsAnswerKept(t *testing.T) {
	t.Parallel()
	both := gateways(t, redisproc.Start(t))
	var s service
	ctx, leave := context.WithCancel(t.Context())
	sendWith(ctx, both[0], scale("k"), s.meanwhile(leave))
	require.True(t, send(both[1], scale("k"), s.accept).replayed())

	ctx, leave = context.WithCancel(t.Context())
	sendWith(ctx, both[0], scale("l"), func(w http.ResponseWriter, _ *http.Request) {
		leave()
		w.WriteHeader(http.StatusBadGateway)
	})
	require.Equal(t, http.StatusAccepted, send(both[1], scale("l"), s.accept).Code, "or its claim dropped")
}

func TestACallerThatIsGoneAlreadyDoesNotLookLikeAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	store := idempotency.NewRedis(redisproc.Start(t).Client(t), prefix)
	k := idempotency.New(store, clock.Now, slog.New(slog.NewTextHandler(&lines, nil)))
	var s service
	ctx, leave := context.WithCancel(t.Context())
	leave()
	require.Equal(t, http.StatusAccepted, sendWith(ctx, k, scale("k"), s.accept).Code)
	require.Empty(t, lines.String())
}

func TestRedisThatGoesAwayMeanwhileDoesNotHoldTheAnswerBack(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	both := gateways(t, server)
	var s service
	begun := clock.Now()
	a := send(both[0], scale("k"), func(w http.ResponseWriter, r *http.Request) {
		server.Kill()
		s.accept(w, r)
	})
	require.Equal(t, http.StatusAccepted, a.Code)
	require.Less(t, clock.Since(begun), 30*time.Second)
	require.Equal(t, protocol.CodeStoreUnavailable, send(both[1], scale("k"), s.accept).x.Code)
	require.EqualValues(t, 1, s.calls.Load())
}

func TestRedisKeysShowNothingOfTheRequestAndEnd(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	var s service
	send(gateways(t, server)[0], scale("a-secret-key"), s.accept)
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.Regexp(t, `^redis-stream:coord:gateway:idempotency:[0-9a-f]{64}$`, keys[0])
	left, err := rdb.PTTL(t.Context(), keys[0]).Result()
	require.NoError(t, err)
	require.InDelta(t, idempotency.AnswerLife, left, float64(time.Minute))
}

func TestRedisSurvivesScriptFlushAndServesEverySlotOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	k := idempotency.New(idempotency.NewRedis(cluster.Client(t), prefix), clock.Now, nil)
	for _, key := range []string{"a", "b", "c", "d", "{x}", "}{"} {
		var s service
		for range 2 {
			require.JSONEq(t, `{"call":1}`, send(k, scale(key), s.accept).Body.String())
			for i := range 3 {
				require.NoError(t, cluster.Node(i).Client(t).ScriptFlush(t.Context()).Err())
			}
		}
	}
}
