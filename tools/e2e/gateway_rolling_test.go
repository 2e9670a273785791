package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// rollingMembers heartbeat and rollingAuthors change things without a pause.
	rollingMembers, rollingAuthors = 16, 4
	// rollingBetween is how many heartbeats are answered between two steps.
	rollingBetween = 800
)

// rolling is two gateways that are restarted while they are used, as behind a balancer that
// goes to the other one where a connection is refused.
type rolling struct {
	*guarded
	ops string

	over            atomic.Bool
	turn            atomic.Uint64
	beats, retries  atomic.Int64
	changes, closed atomic.Int64
	replayed        atomic.Int64
	made            sync.Map // consumer group by its Idempotency-Key
}

// TestGatewaysAreRestartedInTurnUnderLoad: two gateways that keep their counters in Redis are
// restarted one after the other, twice, while members heartbeat and changes are asked for with
// Idempotency-Keys until each has its answer. The only 5xx is the documented refusal of a
// gateway that ends, and no change is made twice (wire contract, Idempotency-Key).
func TestGatewaysAreRestartedInTurnUnderLoad(t *testing.T) {
	t.Parallel()
	r := &rolling{guarded: startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 2, logLevel: "warn",
		gatewayFlags: []string{"--api-rate-limit-store", "redis", "--api-rate-limit-max-requests", "100000"},
	})}
	r.ops = r.login(userOps)
	r.passes(createStream(r.ops, stream), http.StatusCreated)
	var running sync.WaitGroup
	stop := func() {
		r.over.Store(true)
		running.Wait()
	}
	t.Cleanup(stop)
	for i := range rollingMembers {
		running.Go(func() { r.member(i) })
	}
	for i := range rollingAuthors {
		running.Go(func() { r.author(i) })
	}
	for range 2 {
		for _, one := range r.gateways {
			r.more(rollingBetween)
			require.NoError(t, one.cmd.Process.Signal(syscall.SIGTERM))
			one.wait()
			r.more(rollingBetween)
			one.restart()
			r.ready(one)
		}
	}
	r.more(rollingBetween)
	stop()
	t.Logf("%d heartbeats, %d of them RETRY; %d changes, %d of them answered again; refused by a gateway that ends: %d",
		r.beats.Load(), r.retries.Load(), r.changes.Load(), r.replayed.Load(), r.closed.Load())
	require.False(t, t.Failed())
	require.Positive(t, r.changes.Load())
	require.Positive(t, r.replayed.Load())
	r.requireOnce()
}

// more waits until so many more heartbeats are answered.
func (r *rolling) more(count int64) {
	r.t.Helper()
	from, changes := r.beats.Load(), r.changes.Load()
	soon(r.t, "heartbeats and changes go on", func() bool {
		require.False(r.t, r.t.Failed())
		return r.beats.Load() >= from+count && r.changes.Load() >= changes+20
	})
}

// anywhere asks the gateways in turn until one answers. A 5xx has to be the documented one.
func (r *rolling) anywhere(call guardedCall) (guardedReply, bool) {
	for !r.over.Load() {
		at := r.turn.Add(1) % uint64(len(r.gateways))
		got, err := sendWith(r.http, r.gateways[at].url(), call)
		switch {
		case err != nil: // refused, or an idle connection that was just closed
			continue
		case got.status < http.StatusInternalServerError:
			return got, true
		case got.status != http.StatusServiceUnavailable || got.code() != protocol.CodeTerminating || got.header.Get("Retry-After") == "":
			r.t.Errorf("%s %s: %d %s", call.method, call.path, got.status, got.body)
			return got, false
		}
		r.closed.Add(1)
	}
	return guardedReply{}, false
}

// member heartbeats. Every second one is of an old client, which must see no error at all.
func (r *rolling) member(i int) {
	id := fmt.Sprintf("pod-%d", i)
	var last protocol.HeartbeatResponse
	for seq := 1; !r.over.Load(); seq++ {
		incarnation := ""
		if i%2 == 0 {
			incarnation = fmt.Sprintf(`, "incarnation": "01M8MYHJ9ET25VZJ4VYVR%05d", "sequence": %d`, i, seq)
		}
		got, answered := r.anywhere(guardedCall{
			method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + group + "/members/" + id + "/heartbeat"),
			body: fmt.Sprintf(`{"protocolVersion": 1, "requestId": %q, "memberId": %q, "memberEpoch": %d, "metadataVersion": %d, `+
				`"runtimeConsumerCapacity": {"runtimeMaxConcurrency": 1, "availableConcurrency": 1}, "ownedShards": [], `+
				`"revokingShards": [], "shardProgress": []%s}`, uuid4(), id, last.MemberEpoch, last.MetadataVersion, incarnation),
		})
		if !answered {
			return
		}
		var said protocol.HeartbeatResponse
		if err := json.Unmarshal(got.body, &said); got.status != http.StatusOK || err != nil {
			r.t.Errorf("heartbeat of %s: %d %s", id, got.status, got.body)
			return
		}
		r.beats.Add(1)
		if said.Status == protocol.StatusRetry {
			r.retries.Add(1)
		} else if last = said; said.Status != protocol.StatusOK {
			r.t.Errorf("heartbeat of %s: %s", id, got.body)
			return
		}
	}
}

// author makes groups, each under a key of its own, and asks again after every answer.
func (r *rolling) author(i int) {
	for n := 0; !r.over.Load(); n++ {
		name := fmt.Sprintf("made-%d-%d", i, n)
		call := guardedCall{
			method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + name), token: r.ops,
			body: `{"requestedBy": "e2e"}`, header: map[string]string{"Idempotency-Key": "key-" + name},
		}
		if !r.change(call, false) {
			return
		}
		r.made.Store(name, true)
		r.changes.Add(1)
		if !r.change(call, true) {
			return
		}
	}
}

// change asks for a change until it has its answer.
func (r *rolling) change(call guardedCall, again bool) bool {
	for {
		got, answered := r.anywhere(call)
		switch {
		case !answered:
			return false
		case got.code() == protocol.CodeIdempotencyKeyInUse:
			continue // of a try whose connection broke
		case got.status != http.StatusCreated:
			r.t.Errorf("%s: %d %s", call.path, got.status, got.body)
			return false
		case again && got.header.Get("Idempotency-Replayed") != "true":
			r.t.Errorf("%s: not the answer of before: %s", call.path, got.body)
			return false
		case got.header.Get("Idempotency-Replayed") == "true":
			r.replayed.Add(1)
		}
		return true
	}
}

// requireOnce looks into the audit: each change was sent on once, and nothing is missing.
func (r *rolling) requireOnce() {
	r.t.Helper()
	begun := time.Now()
	carried := map[string]int{}
	for _, one := range r.audit(r.ops) {
		if one.Kind == protocol.AuditIntent && one.Operation == "CREATE_GROUP" {
			carried[one.ConsumerGroup]++
		}
	}
	r.t.Logf("the audit was read in %s", time.Since(begun).Round(time.Millisecond))
	for name, times := range carried {
		require.Equal(r.t, 1, times, name)
	}
	r.made.Range(func(name, _ any) bool {
		require.Contains(r.t, carried, name)
		return true
	})
}
