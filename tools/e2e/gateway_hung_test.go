package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// hungBeats heartbeats meet a hung coordinator at once, half of them of old clients.
	hungBeats = 1_000
	// hungGroups are the groups of their members.
	hungGroups = 10
	// hungLimit is how long the gateway waits for a heartbeat's answer, and as long again: what
	// is measured is also for how long the others of so many keep the processors busy.
	hungLimit = 2 * 10 * time.Second
	// hungOld is between how long it waits for that of an old client, 4 s, and the others.
	hungOld = 7 * time.Second
	// hungDoor is how often, at least, each of the gateway's own answers is had meanwhile, one
	// after the other. If they took as long as the heartbeats it would be once.
	hungDoor = 4
	// hungProbes is how many heartbeats find out that a coordinator still hangs.
	hungProbes = 3
)

// hungScene is a gateway with two coordinators, either of which may hang.
type hungScene struct {
	*guarded
	through *http.Client
	ops     string
}

// verdict is what became of a heartbeat.
type verdict struct {
	old    bool
	status int
	said   protocol.HeartbeatStatus // of a status 200
	code   protocol.Code            // of another one
	took   time.Duration
	err    error
}

// TestAHungCoordinatorHoldsUpNobodyElse: coordinators that take connections and answer
// nothing bind heartbeats for a bounded time; the gateway's own answers go on, a coordinator
// that is well gets the heartbeats, and what the hung ones cost is given back (gateway, Proxy).
func TestAHungCoordinatorHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	s := &hungScene{guarded: startGuarded(t, guardedPlan{
		coordinators: 2, gateways: 1, logLevel: "warn", gatewayFlags: []string{"--gateway-max-connections-per-address", "4096"},
	})}
	transport := s.begin()
	well := s.volley()
	s.requireAnswered(well, "before", hungLimit)
	t.Logf("all well: %s", summed(well))
	memory, files := residentBytes(t, s.gateways[0].cmd.Process.Pid), s.openFiles()

	freeze(t, s.coordinators[0].process)
	freeze(t, s.coordinators[1].process)
	hung := s.besides()
	t.Logf("both hang: %s", summed(hung))
	var old []time.Duration
	for _, one := range hung {
		require.NoError(t, one.err)
		require.Less(t, one.took, hungLimit)
		if one.old {
			old = append(old, one.took)
			require.Equal(t, protocol.StatusRetry, one.said)
			continue
		}
		require.Equal(t, http.StatusServiceUnavailable, one.status)
		require.Contains(t, []protocol.Code{protocol.CodeUpstreamUnavailable, protocol.CodeOverloaded}, one.code)
	}

	slices.Sort(old)
	require.Less(t, old[len(old)/2], hungOld, "an old client waits no longer; the others waited for the test's processor")

	thaw(t, s.coordinators[1].process)
	s.soonAnswered("one is well")
	half := s.volley()
	t.Logf("one hangs: %s", summed(half))
	late := slices.DeleteFunc(slices.Clone(half), func(one verdict) bool { return one.status == http.StatusOK && one.took < hungLimit/2 })
	require.LessOrEqual(t, len(late), hungProbes, "but a few that look whether the hung one is back: %v", late)

	thaw(t, s.coordinators[0].process)
	s.coordinators[1].kill()
	s.soonAnswered("the other is well")
	s.requireAnswered(s.volley(), "after", hungLimit)
	s.coordinators[1].restart()
	s.ready(s.coordinators[1])
	transport.CloseIdleConnections()
	s.http.CloseIdleConnections()
	s.requireGivenBack(memory, files)
}

// TestMembersAreLedAroundAHungCoordinator: members of the SDK wait for less than half of what
// the gateway waits, and the little that they tell it by leaving has to do: from the second
// heartbeat on nobody but who probes meets the coordinator that hangs.
func TestMembersAreLedAroundAHungCoordinator(t *testing.T) {
	t.Parallel()
	const members, rounds = 100, 4
	s := &hungScene{guarded: startGuarded(t, guardedPlan{coordinators: 2, gateways: 1, logLevel: "warn"})}
	transport := s.begin()
	t.Cleanup(transport.CloseIdleConnections)
	s.through.Timeout = 4 * time.Second
	freeze(t, s.coordinators[0].process)
	begun := time.Now()
	var lost []int
	for range rounds {
		verdicts := make([]verdict, members)
		var under sync.WaitGroup
		for i := range verdicts {
			under.Go(func() { verdicts[i] = s.beat(2 * i) })
		}
		under.Wait()
		lost = append(lost, 0)
		for _, one := range verdicts {
			if one.err != nil {
				lost[len(lost)-1]++
				continue
			}
			require.Equal(t, http.StatusOK, one.status)
		}
	}
	t.Logf("of %d heartbeats a round %v had no answer, in %s", members, lost, time.Since(begun).Round(time.Millisecond))
	require.Positive(t, lost[0], "it hangs")
	for _, one := range lost[1:] {
		require.LessOrEqual(t, one, hungProbes)
	}
	thaw(t, s.coordinators[0].process)
}

// begin makes the stream and its groups, and what heartbeats are sent through.
func (s *hungScene) begin() *http.Transport {
	s.t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 2 * hungBeats}
	s.through = &http.Client{Transport: transport, Timeout: patience}
	s.ops = s.login(userOps)
	groups := make([]string, hungGroups)
	for i := range groups {
		groups[i] = fmt.Sprintf("%q", hungGroup(i))
	}
	s.passes(guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream), token: s.ops,
		body: `{"initialShardCount": 4, "consumerGroups": [` + strings.Join(groups, ",") + `], "requestedBy": "e2e"}`,
	}, http.StatusCreated)
	return transport
}

func hungGroup(i int) string { return fmt.Sprintf("readers-%d", i) }

// volley sends all heartbeats at once and returns what became of them.
func (s *hungScene) volley() []verdict {
	verdicts := make([]verdict, hungBeats)
	var under sync.WaitGroup
	for i := range verdicts {
		under.Go(func() { verdicts[i] = s.beat(i) })
	}
	under.Wait()
	return verdicts
}

// beat is the heartbeat of member i, who joins. Every second one is of an old client.
func (s *hungScene) beat(i int) verdict {
	id, incarnation := fmt.Sprintf("pod-%d", i), ""
	if i%2 == 0 {
		incarnation = fmt.Sprintf(`, "incarnation": "01M8MYHJ9ET25VZJ4VYVR%05d", "sequence": %d`, i, time.Now().UnixNano())
	}
	begun := time.Now()
	got, err := sendWith(s.through, s.gateways[0].url(), guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + hungGroup(i%hungGroups) + "/members/" + id + "/heartbeat"),
		body: fmt.Sprintf(`{"protocolVersion": 1, "requestId": %q, "memberId": %q, "memberEpoch": 0, "metadataVersion": 0, `+
			`"runtimeConsumerCapacity": {"runtimeMaxConcurrency": 1, "availableConcurrency": 1}, "ownedShards": [], `+
			`"revokingShards": [], "shardProgress": []%s}`, uuid4(), id, incarnation),
	})
	v := verdict{old: incarnation == "", status: got.status, took: time.Since(begun), err: err}
	if v.code = got.code(); v.status == http.StatusOK {
		v.said = statusIn(got)
	}
	return v
}

// besides sends all heartbeats at once and asks for the gateway's own answers, over and over,
// until the heartbeats have theirs.
func (s *hungScene) besides() []verdict {
	s.t.Helper()
	done := make(chan []verdict, 1)
	go func() { done <- s.volley() }()
	own := []guardedCall{
		{path: "/readyz"},
		{path: api("/audit?limit=10"), token: s.ops},
		{method: http.MethodPost, path: api("/auth/login"), body: fmt.Sprintf(`{"username": %q, "password": %q}`, userViewer, passwordOf(userViewer))},
	}
	took := make([][]time.Duration, len(own))
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for {
		for i, call := range own {
			begun := time.Now()
			s.passes(call, http.StatusOK)
			took[i] = append(took[i], time.Since(begun))
		}
		select {
		case verdicts := <-done:
			for i, call := range own {
				slices.Sort(took[i])
				s.t.Logf("%s: %d answers, a quarter of them within %s, all within %s", call.path, len(took[i]),
					took[i][len(took[i])/4], took[i][len(took[i])-1])
				require.GreaterOrEqual(s.t, len(took[i]), hungDoor, call.path)
			}
			return verdicts
		case <-again.C:
		}
	}
}

// requireAnswered requires that all were decided by a coordinator, in time.
func (s *hungScene) requireAnswered(verdicts []verdict, when string, limit time.Duration) {
	s.t.Helper()
	for _, one := range verdicts {
		require.NoError(s.t, one.err, when)
		require.Equal(s.t, http.StatusOK, one.status, "%s: %v", when, one)
		require.Less(s.t, one.took, limit, when)
	}
}

// soonAnswered waits until a few heartbeats in a row are decided at once.
func (s *hungScene) soonAnswered(what string) {
	s.t.Helper()
	soon(s.t, what, func() bool {
		for i := range 5 {
			if one := s.beat(2 * i); one.status != http.StatusOK || one.took > time.Second {
				return false
			}
		}
		return true
	})
}

// openFiles is how many files and connections the gateway has open.
func (s *hungScene) openFiles() int {
	s.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.gateways[0].cmd.Process.Pid))
	require.NoError(s.t, err)
	return len(list)
}

// requireGivenBack waits until the gateway has no more open than when all was well, and looks
// at its memory and at what its goroutines do, which ends it.
func (s *hungScene) requireGivenBack(memory int64, files int) {
	s.t.Helper()
	gateway := s.gateways[0]
	open := 0
	soon(s.t, "the gateway has closed the connections to the hung ones", func() bool {
		open = s.openFiles()
		return open <= files
	})
	after := residentBytes(s.t, gateway.cmd.Process.Pid)
	require.NoError(s.t, gateway.cmd.Process.Signal(syscall.SIGQUIT)) // the runtime prints all goroutines
	<-gateway.done
	said := string(gateway.all.bytes())
	count := len(regexp.MustCompile(`(?m)^goroutine \d+ `).FindAllString(said, -1))
	s.t.Logf("%d MiB before, %d MiB after; %d files open before, %d after; %d goroutines", memory>>20, after>>20, files, open, count)
	require.Less(s.t, after, 3*memory+64<<20)
	require.Positive(s.t, count)
	require.Less(s.t, count, 2*open+100, "two for a connection")
	require.NotContains(s.t, said, "proxy.(*courier).RoundTrip", "no request is under way any more")
}

// residentBytes is the memory of a process that is in use.
func residentBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

func statusIn(got guardedReply) protocol.HeartbeatStatus {
	_, text, _ := strings.Cut(string(got.body), `"status":"`)
	status, _, _ := strings.Cut(text, `"`)
	return protocol.HeartbeatStatus(status)
}

// summed sums up what became of heartbeats.
func summed(verdicts []verdict) string {
	counts := map[string]int{}
	var took []time.Duration
	for _, one := range verdicts {
		kind := "new"
		if one.old {
			kind = "old"
		}
		counts[fmt.Sprintf("%s %d %s%s", kind, one.status, one.said, one.code)]++
		took = append(took, one.took)
	}
	slices.Sort(took)
	return fmt.Sprintf("%v, half within %s, all within %s", counts, took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond))
}
