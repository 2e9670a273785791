package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestOriginalPythonClientsOutliveTheTroubleOfOthers: any error status, any time-out ends
// their threads for good, so whatever happens behind the gateway a heartbeat is answered
// with 200 within 5 s, and RETRY lets them keep what they have (wire contract, Rules).
func TestOriginalPythonClientsOutliveTheTroubleOfOthers(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 1, logLevel: "warn"})
	g.passes(createStream(g.login(userOps), stream), http.StatusCreated)
	client := newPythonClient(t, g.gateways[0].url())
	member := client.member(stream, group, "10.0.0.7").beat(t)
	require.Len(t, member.shards, 2)
	behind := g.coordinators[0]

	t.Log("the coordinator is killed")
	behind.kill()
	requirePatient(t, member)
	got := client.send(t, pythonPath("streams", stream, "groups", group, "producer-routing"), "", "")
	require.GreaterOrEqual(t, got.status, 500, "publishing fails, in time")
	behind.restart()
	g.ready(behind)
	member.until(t, "goes on", member.reads)

	t.Log("the coordinator hangs")
	freeze(t, behind.process)
	requirePatient(t, member)
	thaw(t, behind.process)
	member.until(t, "goes on", member.reads)

	t.Log("Redis hangs")
	freezePID(t, g.audited.PID())
	requirePatient(t, member)
	require.NoError(t, syscall.Kill(g.audited.PID(), syscall.SIGCONT))
	member.until(t, "goes on", member.reads)
	t.Logf("%d heartbeats, the slowest answer took %s", len(member.seen), time.Duration(client.slowest.Load()))
}

// requirePatient has a member heartbeat a few times while nobody can decide about it.
func requirePatient(t *testing.T, member *pythonMember) {
	t.Helper()
	epoch, version, shards := member.epoch, member.version, fmt.Sprint(member.shards)
	took := make([]time.Duration, 3)
	for i := range took {
		begun := time.Now()
		require.Equal(t, protocol.StatusRetry, member.beat(t).status, "%v", member.said)
		took[i] = time.Since(begun)
		t.Logf("RETRY after %s", took[i].Round(time.Millisecond))
		require.Equal(t, epoch, whole(t, member.said, "memberEpoch"), "the epoch that was sent")
		for _, name := range []string{"groupEpoch", "assignmentEpoch", "metadataVersion"} {
			require.Zero(t, whole(t, member.said, name), name)
		}
		require.Empty(t, assignedIn(t, member.said))
		require.Equal(t, epoch, member.epoch)
		require.Equal(t, version, member.version)
		require.Equal(t, shards, fmt.Sprint(member.shards), "it keeps what it has")
	}
	require.Less(t, slices.Sorted(slices.Values(took))[1], pythonLimit, "in time: %v", took)
}
