package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Protocol H1, H3, M1: two coordinators share a database, which is killed under many members;
// then a coordinator is killed too, and members come and go before and after. Every shard is
// watched for a second reader all the time, and nobody is thrown out.
func TestNoShardHasTwoReadersWhilePostgresAndACoordinatorAreKilled(t *testing.T) {
	t.Parallel()
	const members = 24
	s, server := startPostgresSuite(t, "--metrics-listen", "", "--coordination-heartbeat-interval", "1s",
		"--coordination-client-lease", updateLease.String(), "--coordination-member-lease-ttl", "25s", "--coordination-rebalance-timeout", "2m")
	other := freeAddress(t)
	start(t, "second coordinator", "coordinator", append(slices.Clone(s.flags), "--listen", other)...)
	count := members + members/4
	_, err := s.admin.CreateStream(t.Context(), stream, protocol.CreateStreamRequest{
		InitialShardCount: &count, ConsumerGroups: []string{group}, RequestedBy: "e2e",
	})
	require.NoError(t, err)

	fleet := newFleet(t, updateLease, s.address, other)
	sailing, stop := context.WithCancel(t.Context())
	t.Cleanup(func() {
		stop()
		fleet.running.Wait()
	})
	var leave []context.CancelFunc
	join := func() {
		leaves, cancel := context.WithCancel(sailing)
		leave = append(leave, cancel)
		fleet.join(sailing, leaves, stream, fmt.Sprintf("pod-%03d", len(leave)))
	}
	settled := func(what string) {
		t.Helper()
		from := fleet.beats.Load()
		soon(t, what, func() bool {
			require.Empty(t, fleet.wrong())
			view, err := s.admin.Group(t.Context(), stream, group)
			return err == nil && view.State == protocol.GroupStable && fleet.beats.Load() >= from+2*members
		})
	}
	for range members {
		join()
	}
	settled("all have joined")
	lineage := func() string {
		t.Helper()
		view, err := s.admin.Group(t.Context(), stream, group)
		require.NoError(t, err)
		return view.Lineage
	}
	before := lineage()
	server.Kill()
	server.Restart()
	leave[0]()
	join()
	settled("the database was killed")
	require.NotEqual(t, before, lineage(), "that it may have lost something was noticed")
	s.coordinator.kill()
	leave[1]()
	join()
	s.startCoordinator()
	settled("a coordinator was killed")
	moves := fleet.moves.Load()
	t.Logf("%d heartbeats, %d shards changed hands; refused: %d at a connection, %d by a coordinator that could not decide",
		fleet.beats.Load(), moves, fleet.refused.Load(), fleet.behind.Load())
	require.Greater(t, moves, int64(count))
}
