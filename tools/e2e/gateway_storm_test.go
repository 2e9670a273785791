package e2e_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	stormCalls, stormWorkers = 320, 12
	// When one coordinator is killed, then the other, when both come back, from when on they
	// hang, so that there are calls under way when the gateway is killed, which is started
	// again at once; counted in calls.
	coordinatorDies, coordinatorsGone, coordinatorsBack, coordinatorsHang, gatewayDies = 80, 110, 150, 245, 249
)

// stormCall is a call of the storm with what is expected of its trail.
type stormCall struct {
	guardedCall

	id string
	// audited tells that it is a change that there is, so that the audit has it.
	audited bool
}

// stormReply is what came of a call, nil where no answer came.
type stormReply struct {
	stormCall

	reply *guardedReply
}

// storm asks for all kinds of things while processes die.
type storm struct {
	*guarded

	ops, viewer, worker, scoped string
	through                     *http.Client

	mu   sync.Mutex
	came []stormReply
	left []string // what killed processes had written
}

// C8: every change that was answered has one outcome in the audit, behind an intent if it
// was sent, and there is no change without an intent. C9: nothing secret shows anywhere.
func TestGatewayStormLeavesACompleteAuditAndNoSecrets(t *testing.T) {
	t.Parallel()
	s := startStorm(t)
	s.blow()
	s.ready(s.gateways[0])
	s.ready(s.coordinators[0])
	records := s.audit(s.viewer)
	s.requireTrails(records)
	s.requireNoChangeWithoutIntent(records)
	verified := s.rscctl(s.viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
	s.requireNoSecrets()
}

func startStorm(t *testing.T) *storm {
	t.Helper()
	server := withPassword(t)
	s := &storm{guarded: startGuarded(t, guardedPlan{
		coordinators: 2, gateways: 1, auditRedis: server, redisPassword: redisCanary, logLevel: "debug",
		gatewayFlags: []string{"--api-rate-limit-max-requests", "10", "--api-rate-limit-store", "redis", "--api-authenticate-member-api"},
	})}
	s.ops, s.viewer, s.worker, s.scoped = s.login(userOps), s.login(userViewer), s.login(userMember), s.login(userScoped)
	// Without connections that are kept, no call is sent twice.
	s.through = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	s.passes(createStream(s.ops, stream), http.StatusCreated)
	return s
}

// blow sends all calls, several at once, and kills on the way.
func (s *storm) blow() {
	s.t.Helper()
	next := make(chan stormCall)
	var workers sync.WaitGroup
	for range stormWorkers {
		workers.Go(func() {
			for one := range next {
				s.carryOut(one)
			}
		})
	}
	for i := range stormCalls {
		switch i {
		case coordinatorDies:
			s.kill(s.coordinators[0])
		case coordinatorsGone:
			s.kill(s.coordinators[1])
		case coordinatorsBack:
			s.coordinators[0].restart()
			s.coordinators[1].restart()
			s.ready(s.coordinators[1])
		case coordinatorsHang:
			freeze(s.t, s.coordinators[0].process)
			freeze(s.t, s.coordinators[1].process)
		case gatewayDies:
			s.kill(s.gateways[0])
			thaw(s.t, s.coordinators[0].process)
			thaw(s.t, s.coordinators[1].process)
			s.gateways[0].restart()
			s.ready(s.gateways[0])
		}
		next <- s.call(i)
	}
	close(next)
	workers.Wait()
}

func (s *storm) kill(one *guardedService) {
	one.kill()
	s.left = append(s.left, string(one.all.bytes()))
}

func (s *storm) carryOut(one stormCall) {
	got, err := sendWith(s.through, s.gateways[0].url(), one.guardedCall)
	said := stormReply{stormCall: one}
	if err == nil {
		said.reply = &got
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came = append(s.came, said)
}

// call returns the i-th call; their kinds come in turn.
func (s *storm) call(i int) stormCall {
	kinds := slices.Concat(s.changes(i), s.refusals(i), s.others(i))
	one := kinds[i%len(kinds)]
	one.id = fmt.Sprintf("storm-%03d", i)
	header := map[string]string{"X-Request-Id": one.id}
	maps.Copy(header, one.header)
	one.header = header
	return one
}

func change(c guardedCall) stormCall { return stormCall{guardedCall: c, audited: true} }

func other(c guardedCall) stormCall { return stormCall{guardedCall: c} }

// with returns a call with a header more.
func (c guardedCall) with(name, value string) guardedCall {
	header := map[string]string{name: value}
	maps.Copy(header, c.header)
	c.header = header
	return c
}

// changes are those that reach a coordinator.
func (s *storm) changes(i int) []stormCall {
	scale := guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/scale"), token: s.scoped,
		body: `{"targetShardCount": 2, "requestedBy": "e2e", "reason": "\u001b[31m\r\nforged line", "secret": "` + bodyCanary + `"}`,
	}
	remove := guardedCall{
		method: http.MethodDelete, path: api(fmt.Sprintf("/streams/payments-%d", i-1)), token: s.ops,
		body: `{"requestedBy": "e2e", "reason": "no longer used"}`,
	}
	fence := guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + group + "/members/nobody/fence"), token: s.ops,
		body: `{"requestedBy": "e2e", "reason": "stuck"}`,
	}
	return []stormCall{
		change(createStream(s.ops, fmt.Sprintf("payments-%d", i))), change(remove),
		change(createStream(s.scoped, fmt.Sprintf("orders-%d", i))), change(scale),
		change(createStream(s.ops, fmt.Sprintf("keyed-%d", i/2)).with("Idempotency-Key", fmt.Sprintf("key-%d", i/2))),
		change(createStream(s.ops, fmt.Sprintf("keyed-%d", i/2)).with("Idempotency-Key", fmt.Sprintf("key-%d", i/2))),
		change(createStream(s.ops, stream)), change(planScale(s.ops, stream)), change(fence),
		change(asBasic(userOps, createStream("", fmt.Sprintf("basic-%d", i)))),
		change(guardedCall{method: http.MethodPost, path: api("/streams/m"), token: s.ops, body: `{"initialShardCount": "` + bodyCanary}),
		change(guardedCall{method: http.MethodPost, path: api("/streams/m"), token: s.ops, body: `{"initialShardCount": "many"}`}),
		change(guardedCall{
			method: http.MethodPost, path: api("/streams/%6drders/scale?dryRun=true&access_token=" + s.ops), token: s.ops,
			body: `{"targetShardCount": 3, "requestedBy": "e2e", "reason": "x"}`,
		}),
	}
}

// refusals are changes that the gateway itself refuses.
func (s *storm) refusals(i int) []stormCall {
	name := fmt.Sprintf("never-%d", i)
	large := createStream(s.ops, name)
	large.body = `{"reason": "` + strings.Repeat(bodyCanary, 64<<10/len(bodyCanary)+1) + `"}`
	return []stormCall{
		change(createStream(s.viewer, name)), change(createStream(s.worker, name)), change(createStream(s.scoped, name)),
		change(createStream("", name)), change(createStream(s.ops[:len(s.ops)-4]+"AAAA", name)),
		change(createStream("canary", name)), change(large),
		change(createStream(s.ops, name).with("Content-Type", "text/plain")),
		change(createStream(s.ops, name).with("Content-Encoding", "gzip")),
		change(createStream(s.ops, name).with("Idempotency-Key", strings.Repeat("k", 200))),
		change(createStream("", name).with("Authorization", "Digest "+bodyCanary)),
	}
}

// others are no changes, or none that there is.
func (s *storm) others(i int) []stormCall {
	list := []stormCall{
		other(guardedCall{path: api("/streams"), token: s.viewer}),
		other(guardedCall{path: api("/streams?access_token=" + s.viewer)}),
		other(guardedCall{path: api("/audit?principal=ops&limit=5"), token: s.viewer}),
		other(guardedCall{
			method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + group + "/members/m1/heartbeat"),
			token: s.worker, body: firstBeat(s.t, "m1"),
		}),
		other(createStream(s.ops, "..%2fadmin")), other(createStream(s.ops, "a%00b")), other(createStream(s.ops, "a/b/c/d")),
		other(guardedCall{method: http.MethodPut, path: api("/streams/" + stream), token: s.ops, body: "{}"}),
		other(guardedCall{path: "/openapi.json"}), other(guardedCall{path: "/.well-known/jwks.json"}), other(guardedCall{path: "/version"}),
	}
	if i < stormCalls/4 { // few enough that nobody is locked out
		list = append(list, other(guardedCall{
			method: http.MethodPost, path: api("/auth/login"),
			body: fmt.Sprintf(`{"username": %q, "password": %q}`, wrongPassword, wrongPassword),
		}), other(asBasic(wrongPassword, guardedCall{path: api("/streams")})))
	}
	return list
}

// requireTrails holds the audit against what callers have seen.
func (s *storm) requireTrails(records []protocol.AuditRecord) {
	s.t.Helper()
	trails, unanswered, statuses := byRequest(records), 0, map[int]int{}
	for _, one := range s.came {
		trail := trails[one.id]
		switch {
		case !one.audited:
			require.Empty(s.t, trail, "%s %s is no change", one.method, one.path)
		case one.reply != nil:
			outcome := requireTrail(s.t, trail)
			require.Equal(s.t, one.reply.status, outcome.Status, "%s: %s", one.id, one.reply.body)
			require.Equal(s.t, string(one.reply.code()), outcome.ErrorCode, one.id)
			statuses[one.reply.status]++
		default: // killed on the way: what was written is in order all the same
			unanswered++
			require.LessOrEqual(s.t, len(trail), 2, one.id)
			if len(trail) == 2 {
				requireTrail(s.t, trail)
			}
		}
	}
	s.t.Logf("%d records, statuses of answered changes %v, %d calls without an answer", len(records), statuses, unanswered)
	for _, status := range []int{201, 400, 401, 403, 409, 413, 415, 429, 503} {
		require.Positive(s.t, statuses[status], "the storm has changes with status %d", status)
	}
	require.Positive(s.t, unanswered, "the gateway was killed with calls under way")
}

// requireNoChangeWithoutIntent holds the audit against the streams that are there.
func (s *storm) requireNoChangeWithoutIntent(records []protocol.AuditRecord) {
	s.t.Helper()
	intended := map[string]bool{}
	for _, one := range records {
		if one.Kind == protocol.AuditIntent && one.Operation == "CREATE_STREAM" {
			intended[one.StreamPrefix] = true
		}
	}
	var list protocol.StreamsResponse
	s.passes(guardedCall{path: api("/streams"), token: s.viewer}, http.StatusOK).decode(s.t, &list)
	require.Greater(s.t, len(list.Streams), stormCalls/20)
	there := map[string]bool{}
	for _, one := range list.Streams {
		there[one.StreamPrefix] = true
		require.True(s.t, intended[one.StreamPrefix], "stream %s is there, and nothing tells who meant it", one.StreamPrefix)
		require.NotContains(s.t, one.StreamPrefix, "never")
	}
	for _, one := range s.came {
		name := strings.TrimPrefix(one.path, api("/streams/"))
		if one.reply != nil && one.reply.status == http.StatusCreated && strings.HasPrefix(name, "orders-") {
			require.True(s.t, there[name], "%s was answered 201", name)
		}
	}
}
