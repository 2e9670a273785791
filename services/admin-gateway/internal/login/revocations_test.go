package login_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
)

const (
	prefix   = "redis-stream:coord"
	patience = time.Minute
	glance   = 20 * time.Millisecond
)

// lines is a log that is read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func shared(t *testing.T, rdb redis.UniversalClient, clock *hand, to *lines) *login.RedisRevocations {
	t.Helper()
	made := login.NewRedisRevocations(t.Context(), rdb, prefix, clock.Now, slog.New(slog.NewTextHandler(to, nil)))
	t.Cleanup(made.Close)
	return made
}

func TestRevocationCountsUntilTheTokensEnd(t *testing.T) {
	t.Parallel()
	clock := newHand()
	revoked := login.NewLocalRevocations(clock.Now)
	require.False(t, revoked.Revoked("a"))
	require.NoError(t, revoked.Revoke(t.Context(), "a", clock.Now().Add(time.Hour)))
	require.True(t, revoked.Revoked("a"))
	require.False(t, revoked.Revoked("b"))
	clock.pass(time.Hour - time.Nanosecond)
	require.True(t, revoked.Revoked("a"))
	clock.pass(time.Nanosecond)
	require.False(t, revoked.Revoked("a"))
}

func TestRevocationsThatAreOverTakeNoMemory(t *testing.T) {
	t.Parallel()
	clock := newHand()
	revoked := login.NewLocalRevocations(clock.Now)
	for i := range 10_000 {
		require.NoError(t, revoked.Revoke(t.Context(), fmt.Sprint(i), clock.Now().Add(time.Minute)))
		clock.pass(time.Second)
	}
	require.LessOrEqual(t, revoked.Kept(), 121)
}

// Forgetting one would make its token valid again, so there is a point beyond which nobody
// can log out.
func TestRevocationsAreBoundedWithoutForgettingOne(t *testing.T) {
	t.Parallel()
	clock := newHand()
	revoked := login.NewLocalRevocations(clock.Now)
	until := clock.Now().Add(time.Hour)
	for i := range 1_000_000 {
		if err := revoked.Revoke(t.Context(), fmt.Sprint(i), until); err != nil {
			require.NoError(t, err)
		}
	}
	err := revoked.Revoke(t.Context(), "one more", until)
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeOverloaded, refusal.Code)
	require.True(t, revoked.Revoked("0"))
	require.NoError(t, revoked.Revoke(t.Context(), "0", until), "what is known can be said again")
	clock.pass(time.Hour)
	require.NoError(t, revoked.Revoke(t.Context(), "one more", until.Add(time.Hour)))
	require.Equal(t, 1, revoked.Kept())
}

func TestRevocationIsKnownToAllGatewaysAndThoseThatStartLater(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	clock, log := newHand(), &lines{}
	rdb := server.Client(t)
	here, there := shared(t, rdb, clock, log), shared(t, server.Client(t), clock, log)
	until := clock.Now().Add(time.Hour)
	require.NoError(t, here.Revoke(t.Context(), "a", until))
	require.True(t, here.Revoked("a"), "at once")
	require.Eventually(t, func() bool { return there.Revoked("a") }, patience, glance)
	require.NoError(t, there.Revoke(t.Context(), "b", until))
	require.Eventually(t, func() bool { return here.Revoked("b") }, patience, glance)

	later := shared(t, rdb, clock, log)
	require.True(t, later.Revoked("a"), "before it serves anybody")
	require.True(t, later.Revoked("b"))
	require.False(t, later.Revoked("#revision"))

	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{prefix + ":gateway:revoked"}, keys)
	require.Zero(t, log.count("\n"))
}

func TestRevocationsThatAreOverLeaveRedis(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	clock := newHand()
	rdb := server.Client(t)
	here := shared(t, rdb, clock, &lines{})
	require.NoError(t, here.Revoke(t.Context(), "old", clock.Now().Add(time.Minute)))
	clock.pass(30 * time.Minute)
	other := shared(t, rdb, clock, &lines{}) // which reads everything
	require.False(t, other.Revoked("old"))
	require.NoError(t, rdb.ZScore(t.Context(), prefix+":gateway:revoked", "old").Err(), "kept for a while, for clocks that differ")
	clock.pass(time.Hour)
	shared(t, rdb, clock, &lines{})
	require.ErrorIs(t, rdb.ZScore(t.Context(), prefix+":gateway:revoked", "old").Err(), redis.Nil)
	require.NoError(t, rdb.ZScore(t.Context(), prefix+":gateway:revoked", "#revision").Err())
}

func TestRevocationsWhileRedisIsAwayCountHereAndAreSharedLater(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	clock, log := newHand(), &lines{}
	here, there := shared(t, server.Client(t), clock, log), shared(t, server.Client(t), clock, &lines{})
	until := clock.Now().Add(time.Hour)
	require.NoError(t, here.Revoke(t.Context(), "before", until))
	require.Eventually(t, func() bool { return there.Revoked("before") }, patience, glance)

	server.Kill()
	require.Eventually(t, func() bool { return log.count("cannot be read") > 0 }, patience, glance)
	require.True(t, there.Revoked("before"))
	err := here.Revoke(t.Context(), "meanwhile", until)
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, protocol.CodeStoreUnavailable, refusal.Code)
	require.True(t, here.Revoked("meanwhile"))
	require.False(t, there.Revoked("meanwhile"))

	server.Restart()
	require.Eventually(t, func() bool { return there.Revoked("meanwhile") }, patience, glance)
	// Once for each time that it could not be read, and a slow machine may add one.
	require.Eventually(t, func() bool {
		return log.count("read again") > 0 && log.count("read again") == log.count("cannot be read")
	}, patience, glance)
	require.True(t, there.Revoked("before"))
}

func TestGatewayStartsWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	clock, log := newHand(), &lines{}
	rdb := server.Client(t)
	server.Kill()
	here := shared(t, rdb, clock, log)
	require.Equal(t, 1, log.count("cannot be read"))
	require.False(t, here.Revoked("a"))
	require.False(t, here.Ready())
	server.Restart()
	other := shared(t, rdb, clock, &lines{})
	require.Eventually(t, func() bool {
		return other.Revoke(t.Context(), "a", clock.Now().Add(time.Hour)) == nil
	}, patience, glance)
	require.Eventually(t, func() bool { return here.Revoked("a") }, patience, glance)
	require.True(t, here.Ready())
}

// What others had revoked is known here and counts, though Redis has forgotten it, and
// gateways that start later learn of it.
func TestRedisThatLosesItsDataMakesNoTokenValidAgain(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	clock := newHand()
	rdb := server.Client(t)
	here, there := shared(t, rdb, clock, &lines{}), shared(t, rdb, clock, &lines{})
	until := clock.Now().Add(time.Hour)
	require.NoError(t, here.Revoke(t.Context(), "a", until))
	require.Eventually(t, func() bool { return there.Revoked("a") }, patience, glance)
	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	require.NoError(t, here.Revoke(t.Context(), "b", until))
	require.NoError(t, here.Revoke(t.Context(), "c", until))
	require.Eventually(t, func() bool { return there.Revoked("b") && there.Revoked("c") }, patience, glance)
	require.True(t, there.Revoked("a"))
	require.NoError(t, rdb.FlushAll(t.Context()).Err())
	require.Eventually(t, func() bool {
		scores, err := rdb.ZMScore(t.Context(), prefix+":gateway:revoked", "a", "b", "c").Result()
		return err == nil && !slices.Contains(scores, 0)
	}, patience, glance)
	require.True(t, shared(t, rdb, clock, &lines{}).Revoked("a"))
}

func TestRevocationsWorkInACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	clock := newHand()
	here, there := shared(t, cluster.Client(t), clock, &lines{}), shared(t, cluster.Client(t), clock, &lines{})
	require.NoError(t, here.Revoke(t.Context(), "a", clock.Now().Add(time.Hour)))
	require.Eventually(t, func() bool { return there.Revoked("a") }, patience, glance)
}
