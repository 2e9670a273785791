package e2e_test

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// TestAReshardingOutlivesItsRedis: Redis is killed and comes back with all it had
// acknowledged, once while old routing runs out and once when shards are sealed. Nobody
// can tell such a start from one that lost writes, so each costs a barrier (protocol M1),
// behind which nothing is sealed (M3); then the change goes on and ends.
func TestAReshardingOutlivesItsRedis(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	flags := append(quickly(), append(sceneTiming(), "--redis-host", host, "--redis-port", port)...)
	s := scalingOf(newSuite(t, server.URL(), flags))
	s.createStream()
	s.load("publisher", 200)
	s.read(2, "--workers", "4")
	stuckKey := routing.StreamKey(stream, stuck)
	require.NoError(t, s.rdb.XGroupCreate(t.Context(), stuckKey, "guest", "0").Err())

	in := s.scale(s.admin, 3)
	until := func(state protocol.MigrationState, done int) {
		t.Helper()
		s.eventually(func() bool {
			m, err := s.admin.Migration(t.Context(), stream, group, in.id)
			return err == nil && m.State == state && m.Progress.Done >= done
		}, string(state))
	}
	restart := func() {
		t.Helper()
		server.Kill()
		server.Restart()
		t.Logf("Redis was killed and is there again after %s", in.after(time.Now()))
	}
	until(protocol.MigrationActive, 0)
	restart()
	until(protocol.MigrationDraining, 4)
	restart()
	require.Equal(t, "stream", s.rdb.Type(t.Context(), stuckKey).Val())
	require.NoError(t, s.rdb.XGroupDestroy(t.Context(), stuckKey, "guest").Err())
	s.follow(s.admin, in)
	s.tell(in)
	require.Equal(t, protocol.MigrationDeprecated, in.last.State)
	over := time.Now()
	s.requireEachWrites(func(e entry) bool { return e.at().After(over) }, "after the change")
	s.stable(2)
	r := s.ending("--resharded")
	require.Zero(t, r.Killed)
	s.requireSealed(in, 3, shards)
	s.requireKept()
	requireNoProblem(t, s.admin)
}
