package e2e_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	saysLacks = "the Redis user lacks permissions"
	saysAgain = "the Redis user has all permissions again"
)

// TestAServiceNamesThePermissionThatItLacks: what an operator has forgotten to allow is told as a
// configuration error with the command and the user, once. A service that is started like that
// is not ready; one that loses it goes on (storage, Failure: NOPERM is a state with a name).
func TestAServiceNamesThePermissionThatItLacks(t *testing.T) {
	t.Parallel()
	on := startGuardedRedis(t, false)
	s := startRoles(t, on)
	for _, c := range []struct {
		service     *guardedService
		role, rule  string
		named, told string // by the log, by readiness
	}{
		{s.coordinators[0], roleCoordinator, "-xadd", "XADD on redis-stream:coord:{", "XADD on redis-stream:coord:{"},
		{s.coordinators[0], roleCoordinator, "-xgroup|create", "XGROUP CREATE on redis-stream:coord:shard:{", "XGROUP CREATE"},
		{s.gateways[0], roleGateway, "-zincrby", "ZINCRBY on redis-stream:coord:gateway:revoked", "its log names them"},
		{s.monitor, roleMonitor, "-xinfo|groups", "XINFO GROUPS on ", "XINFO GROUPS on "},
		{s.monitor, roleMonitor, "-evalsha", "EVALSHA on redis-stream:coord:monitor:lease", "EVALSHA"},
	} {
		for range 3 { // one look may run out of its time
			s.ready(c.service)
		}
		give := on.without(c.role, c.rule)
		s.says(c.service, saysLacks, c.named, `\"`+c.role+`\"`, "NOPERM", "docs/redis-acl.md")
		s.ready(c.service) // it goes on with what it may do
		if c.role == roleCoordinator {
			health := s.health()
			require.Equal(t, protocol.HealthDegraded, health.Status)
			require.Contains(t, strings.Join(health.Problems, "\n"), c.named)
		}

		require.NoError(t, c.service.cmd.Process.Signal(syscall.SIGTERM))
		<-c.service.done
		c.service.restart()
		s.says(c.service, saysLacks, c.named)
		require.Eventually(t, func() bool { // a monitor looks around once before it says anything else
			got := s.refusedAt(c.service, guardedCall{path: "/readyz"}, http.StatusServiceUnavailable, protocol.CodeStoreUnavailable)
			return strings.Contains(string(got.body), c.told)
		}, patience, often, "%s is not ready for want of %s", c.service.name, c.told)
		give()
		s.ready(c.service)
		s.says(c.service, saysAgain)
		log := string(c.service.all.bytes())
		require.Equal(t, 1, strings.Count(log, saysLacks), "it is told once")
		require.NotContains(t, log, "goroutine ")
	}
	require.Eventually(t, func() bool { return s.health().Status == protocol.HealthUp }, patience, often)
}

// says waits until a line of the service's log has all of the texts. Somebody has to ask for
// readiness meanwhile, as orchestrators do.
func (s *roles) says(service *guardedService, texts ...string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		if _, err := s.send(service, guardedCall{path: "/readyz"}); err != nil {
			return false
		}
		if service == s.coordinators[0] {
			_, _ = s.send(service, guardedCall{path: api("/monitoring/health")})
		}
		for line := range strings.Lines(string(service.all.bytes())) {
			all := true
			for _, text := range texts {
				all = all && strings.Contains(line, text)
			}
			if all {
				return true
			}
		}
		return false
	}, patience, often, "%s says %q", service.name, texts)
}

// TestAStreamOutsideOfThePermittedKeysIsRefusedByName: which streams a coordinator may make is in
// its line; another one is refused with a text that says so.
func TestAStreamOutsideOfThePermittedKeysIsRefusedByName(t *testing.T) {
	t.Parallel()
	s := startRoles(t, startGuardedRedis(t, false))
	got := s.refused(createStream(s.ops, "payments"), http.StatusServiceUnavailable, protocol.CodeProvisioningFailed)
	for _, text := range []string{"payments:0", "NOPERM", "docs/redis-acl.md"} {
		require.Contains(t, string(got.body), text)
	}
	s.passes(createStream(s.ops, stream), http.StatusCreated)
}

// TestTheSDKNamesThePermissionThatItLacks: a producer and a consumer that may do too little say
// which command it is, and do not ask again without a pause.
func TestTheSDKNamesThePermissionThatItLacks(t *testing.T) {
	t.Parallel()
	on := startGuardedRedis(t, false)
	s := startRoles(t, on)
	s.passes(createStream(s.ops, stream), http.StatusCreated)
	f := s.flow()
	on.without(roleProducer, "-xadd")
	_, err := f.producer.Publish(t.Context(), "key", map[string]any{"seq": 1})
	require.ErrorContains(t, err, "NOPERM")
	require.ErrorContains(t, err, "'xadd'")

	give := on.without(roleConsumer, "-xreadgroup")
	var log output
	c, err := client.New(client.Options{CoordinatorURL: s.coordinators[0].url(), Redis: f.rdb, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	consumer, err := c.NewConsumer(client.Subscription{
		Stream: stream, Group: group, MemberID: "limited", AckMode: client.AckAfterHandler,
	}, func(context.Context, *client.Message) error { return nil })
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	began, ended := time.Now(), make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	const tries = 12 // six of each shard
	require.Eventually(t, func() bool { return len(refusals(on)) > 0 && refusals(on)[0] >= tries }, patience, often)
	require.Greater(t, time.Since(began), 300*time.Millisecond, "the pauses between %d tries", tries)
	require.Eventually(t, func() bool {
		shards := consumer.Status().Members[0].Shards
		return len(shards) == 2 && shards[0].Fault == "NOPERM" && shards[1].Fault == "NOPERM" &&
			strings.Count(log.tail(), "shard cannot be read") >= 2
	}, patience, often, "both shards have the fault")
	said := log.tail()
	require.Equal(t, 2, strings.Count(said, "shard cannot be read"), "once for each shard: %s", said)
	require.Contains(t, said, "run the 'xreadgroup' command")

	give()
	on.without(roleConsumer, "-xack")
	on.lines[roleProducer] += " +xadd"
	on.load()
	_, err = f.producer.Publish(t.Context(), "key", map[string]any{"seq": 1})
	require.NoError(t, err)
	require.Eventually(t, func() bool { return strings.Contains(log.tail(), "acknowledgement refused") }, patience, often, "it goes on by itself")
	require.Contains(t, log.tail(), "run the 'xack' command")
	require.Positive(t, consumer.Status().Counters.AckFailed)
	end()
	require.NoError(t, <-ended)
}

// refusals returns how often each command was refused to the consumer's role, as the log of
// Redis counts them.
func refusals(on *guardedRedis) []int {
	entries, err := on.roots[0].ACLLog(on.t.Context(), 100).Result()
	if err != nil {
		return nil
	}
	var counts []int
	for _, one := range entries {
		if one.Username == roleConsumer && one.Object == "xreadgroup" {
			counts = append(counts, int(one.Count))
		}
	}
	return counts
}
