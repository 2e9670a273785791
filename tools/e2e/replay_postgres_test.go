package e2e_test

import (
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// startPostgresSuite starts a coordinator whose metadata is in PostgreSQL; records and shards
// are in Redis.
func startPostgresSuite(t *testing.T, settings ...string) (*suite, *postgresproc.Server) {
	t.Helper()
	redis, server := redisproc.Start(t), postgresproc.Start(t)
	database, err := url.Parse(server.Database(t))
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(redis.Addr())
	require.NoError(t, err)
	return newSuite(t, redis.URL(), append(settings,
		"--redis-host", host, "--redis-port", port, "--store-type", "postgres",
		"--store-postgres-host", database.Hostname(), "--store-postgres-port", database.Port(),
		"--store-postgres-database", strings.TrimPrefix(database.Path, "/"), "--store-postgres-username", database.User.Username(),
		"--store-postgres-tls-mode", "disable")), server
}

func TestReplaySurvivesKilledConsumersWithMetadataInPostgres(t *testing.T) {
	t.Parallel()
	s, _ := startPostgresSuite(t)
	replayWithKills(t, s)
}

// Protocol M1–M5, reliability FT07, FT08: the coordinator is killed, its database is killed,
// hangs, and is at last put back to a copy that knows nothing of the third member. The ledgers
// show that no record is lost and that nobody reads what another one reads.
func TestNobodyReadsWhatAnotherReadsWhateverBecomesOfPostgres(t *testing.T) {
	t.Parallel()
	s, server := startPostgresSuite(t, sceneTiming()...)
	s.createStream()
	names := []string{"c1", "c2"}
	var consumers []*process
	for _, name := range names {
		consumers = append(consumers, s.consume(name))
	}
	s.stable(len(names))
	server.Stop()
	backup := server.Backup(t)
	server.Restart()
	publisher := s.publish(endless, "--attached", "--rate", sceneRate, "--publish-batch", sceneBatch)
	goesOn := func(what string) {
		t.Helper()
		s.stable(len(names))
		from := s.handled(names...)
		s.eventually(func() bool { return s.handled(names...) > from+100 }, "records are handled: "+what)
	}
	names, consumers = append(names, "c3"), append(consumers, s.consume("c3"))
	goesOn("a third member has joined")

	s.coordinator.kill()
	s.startCoordinator()
	goesOn("another coordinator has found everything")
	server.Kill()
	server.Restart()
	goesOn("the database was killed")
	server.Pause()
	server.Resume()
	s.coordinator.kill()
	server.Kill()
	server.Restart()
	s.startCoordinator()
	goesOn("both were killed")
	known, err := s.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)

	server.Kill()
	server.Restore(t, backup)
	server.Restart()
	goesOn("the database is an older copy of itself")
	after, err := s.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)
	require.NotEqual(t, known.Lineage, after.Lineage, "what was lost was noticed, and corrected in a round")
	publisher.release()
	records := len(of("ack", s.ledger("publisher")))
	r := s.finish(records, names, consumers)
	t.Logf("%d records handled, %d duplicates, %d shards changed hands", r.Handled, r.Duplicates.Total, r.Moves)
}
