package e2e_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	sharedLimit  = 100
	sharedWindow = time.Hour
	// sharedCalls is how many mutations are asked for in one window, sharedWorkers how many
	// at once at each gateway.
	sharedCalls, sharedWorkers = 1_000, 100
)

// gateway, Rate limit: the redis counter is exact across gateways. Idempotency keys and
// logouts live in the same store.
func TestGatewaysShareCountersKeysAndLogouts(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 2, gateways: 2,
		gatewayFlags: []string{
			"--api-rate-limit-store", "redis", "--api-rate-limit-max-requests", strconv.Itoa(sharedLimit),
			"--api-rate-limit-window", sharedWindow.String(), "--log-level", "warn",
		},
	})
	ops, viewer, scoped := g.login(userOps), g.login(userViewer), g.login(userScoped)
	db := g.audited.Client(t)
	enoughOfWindow(t, sharedWindow, 2*time.Minute, func() time.Time {
		at, err := db.Time(t.Context()).Result()
		require.NoError(t, err)
		return at
	})
	g.passes(createStream(scoped, stream), http.StatusCreated)

	step(t, "of a thousand mutations at once exactly as many pass as may", func() {
		counted := g.crowd(planScale(ops, stream))
		require.Equal(t, map[int]int{http.StatusOK: sharedLimit, http.StatusTooManyRequests: sharedCalls - sharedLimit}, counted)
		g.refusedAt(g.gateways[1], planScale(ops, stream), http.StatusTooManyRequests, protocol.CodeRateLimitExceeded)
		require.Equal(t, http.StatusOK, g.askAt(g.gateways[1], planScale(scoped, stream)).status, "another user")
		g.refused(planScale(ops, "%6frders"), http.StatusTooManyRequests, protocol.CodeRateLimitExceeded)
	})

	step(t, "a logout at one ends the token at the other soon: it looks every 2 s", func() {
		leaving := g.login(userViewer)
		read := guardedCall{path: api("/streams"), token: leaving}
		require.Equal(t, http.StatusOK, g.askAt(g.gateways[1], read).status)
		g.passes(guardedCall{method: http.MethodPost, path: api("/auth/logout"), token: leaving}, http.StatusOK)
		g.refused(read, http.StatusUnauthorized, protocol.CodeUnauthorized)
		require.Eventually(t, func() bool {
			return g.askAt(g.gateways[1], read).status == http.StatusUnauthorized
		}, 10*time.Second, often, "the other gateway knows it")
		g.passes(guardedCall{path: api("/streams"), token: viewer}, http.StatusOK)
	})

	step(t, "an answer is given again at the other under its Idempotency-Key", func() {
		create := createStream(scoped, "orders-2")
		create.header = map[string]string{"Idempotency-Key": "create-2", "X-Request-Id": "first-2"}
		first := g.passes(create, http.StatusCreated)
		require.Empty(t, first.header.Get("Idempotency-Replayed"))
		create.header["X-Request-Id"] = "second-2"
		again := g.askAt(g.gateways[1], create)
		require.Equal(t, http.StatusCreated, again.status)
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		create.body = `{"requestedBy": "somebody else"}`
		g.refusedAt(g.gateways[1], create, http.StatusConflict, protocol.CodeIdempotencyKeyReused)
		create.token = ops
		got := g.askAt(g.gateways[1], create)
		require.Equal(t, protocol.CodeStreamAlreadyExists, got.code(), "a key is of its user: %s", got.body)
	})

	step(t, "one key at once at both is carried out once", func() {
		create := createStream(scoped, "orders-3")
		create.header = map[string]string{"Idempotency-Key": "create-3", "X-Request-Id": "crowd-3"}
		for status := range g.crowdOf(create, 40) {
			require.Contains(t, []int{http.StatusCreated, http.StatusConflict}, status)
		}
		require.Equal(t, http.StatusCreated, g.askAt(g.gateways[1], create).status)
	})
	g.requireSharedAudit(viewer)
}

// requireSharedAudit requires that the audit of both gateways is one chain, and knows each
// mutation once.
func (g *guarded) requireSharedAudit(token string) {
	g.t.Helper()
	sent, allowed, refused := 0, 0, 0
	intents := map[string]int{}
	for _, one := range g.audit(token) {
		if one.Kind == protocol.AuditIntent {
			intents[one.RequestID]++
		}
		if one.Principal != userOps || one.Operation != "SCALE_STREAM" || one.StreamPrefix != stream {
			continue
		}
		switch {
		case one.Kind == protocol.AuditIntent:
			sent++
		case one.Result == protocol.AuditAllowed:
			allowed++
		case one.Result == protocol.AuditRefused:
			refused++
		}
	}
	require.Equal(g.t, sharedLimit, sent, "only what passed was sent")
	require.Equal(g.t, sharedLimit, allowed)
	require.Equal(g.t, sharedCalls+2-sharedLimit, refused)
	require.Equal(g.t, 1, intents["crowd-3"], "one key was sent once")
	require.Equal(g.t, 1, intents["first-2"])
	second := byRequest(g.audit(token))["second-2"]
	require.Equal(g.t, protocol.AuditReplay, second[0].Kind)
	verified := g.rscctl(token, "audit", "verify")
	require.Zero(g.t, verified.code, verified.text)
}

// crowd asks sharedCalls times, at all gateways in turn, and counts the statuses.
func (g *guarded) crowd(c guardedCall) map[int]int { return g.crowdOf(c, sharedCalls) }

func (g *guarded) crowdOf(c guardedCall, calls int) map[int]int {
	g.t.Helper()
	var mu sync.Mutex
	counted, failed := map[int]int{}, error(nil)
	var crowd sync.WaitGroup
	next := make(chan int)
	for range sharedWorkers * len(g.gateways) {
		crowd.Go(func() {
			for i := range next {
				got, err := g.send(g.gateways[i%len(g.gateways)], c)
				mu.Lock()
				if err != nil {
					failed = err
				}
				counted[got.status]++
				mu.Unlock()
			}
		})
	}
	for i := range calls {
		next <- i
	}
	close(next)
	crowd.Wait()
	require.NoError(g.t, failed)
	return counted
}
