package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// costSlices slices of costBeats heartbeats are measured of each way, in turns.
	costSlices, costBeats = 5, 2_400
	// costAtOnce heartbeats are under way at once.
	costAtOnce = 8
	// tick is the unit in which Linux tells processor time.
	tick = 10 * time.Millisecond
	// costBare and costGuarded are what a heartbeat through the gateway may cost, in the
	// price of one through a bare reverse proxy, without and with a token that is looked at.
	costBare, costGuarded = 1.5, 2.0
)

// way is one way for heartbeats to the coordinator.
type way struct {
	name, url, token string
	pid              int
	prices           []float64 // microseconds of processor time for a heartbeat, by slice
}

// TestGatewayCostsLittlePerHeartbeat compares the processor time of a heartbeat through the
// gateway with that through httputil.ReverseProxy, in the same run, in slices by turns, so
// that what else the machine does falls on both. The coordinator behind is a constant answer.
func TestGatewayCostsLittlePerHeartbeat(t *testing.T) {
	t.Parallel()
	behind := costStub(t)
	ways := []*way{costProxy(t, behind)}
	for _, guards := range []bool{false, true} {
		g := startGuarded(t, guardedPlan{
			gateways:     1,
			gatewayFlags: []string{"--gateway-coordinators", behind, "--api-authenticate-member-api=" + strconv.FormatBool(guards)},
		})
		one := &way{name: "gateway", url: g.gateways[0].url(), pid: g.gateways[0].cmd.Process.Pid}
		if guards {
			one.name, one.token = "gateway that looks at tokens", g.login(userMember)
		}
		ways = append(ways, one)
	}
	for _, one := range ways {
		one.beat(t, costBeats/4)
	}
	for range costSlices {
		for _, one := range ways {
			before := processorTime(t, one.pid)
			one.beat(t, costBeats)
			one.prices = append(one.prices, float64((processorTime(t, one.pid)-before).Microseconds())/costBeats)
		}
	}
	for i, most := range []float64{1: costBare, 2: costGuarded} {
		var ratios []float64
		for slice, price := range ways[i].prices {
			ratios = append(ratios, price/ways[0].prices[slice])
		}
		slices.Sort(ratios)
		t.Logf("%s: %.0f µs of processor time for a heartbeat, %.2f of the bare proxy's (slices %.2f, %.0f µs)",
			ways[i].name, median(ways[i].prices), median(ratios), ratios, ways[i].prices)
		if i > 0 {
			require.LessOrEqual(t, median(ratios), most, ways[i].name)
		}
	}
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// costStub is a coordinator that has decided already.
func costStub(t *testing.T) string {
	t.Helper()
	const decided = `{"responseTo":"r","status":"OK","memberId":"pod-1","memberEpoch":12,"heartbeatIntervalMs":1000,` +
		`"rebalanceTimeoutMs":60000,"groupEpoch":7,"assignmentEpoch":7,"metadataVersion":9,"assignment":{"assignedShards":` +
		`[{"shardIndex":0},{"shardIndex":1},{"shardIndex":2},{"shardIndex":3}],"pendingShards":[],"metadataVersion":9},` +
		`"leaseMs":8000,"lineage":"01M8MYF0HWXNYRTPG5MHFM0JQ8"}` + "\n"
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, decided)
	}))
	t.Cleanup(stub.Close)
	return stub.URL
}

// costProxy builds and starts the bare proxy.
func costProxy(t *testing.T, behind string) *way {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", filepath.Join(binaries, "bareproxy"),
		"./"+filepath.Join("testdata", "bareproxy"))
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	address := freeAddress(t)
	p := start(t, "bareproxy", "bareproxy", address, behind)
	one := &way{name: "bare proxy", url: "http://" + address, pid: p.cmd.Process.Pid}
	soon(t, "the bare proxy answers", func() bool {
		got, err := sendWith(http.DefaultClient, one.url, guardedCall{path: "/"})
		return p.ended() || err == nil && got.status == http.StatusOK
	})
	http.DefaultClient.CloseIdleConnections()
	return one
}

// beat sends heartbeats over connections that stay.
func (w *way) beat(t *testing.T, count int) {
	t.Helper()
	const body = `{"protocolVersion":1,"requestId":"01M8MYHRV3QNQ1C3M4N7S4C2YE","memberId":"pod-1","memberName":"pod-1",` +
		`"memberEpoch":12,"metadataVersion":9,"runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1},` +
		`"ownedShards":[{"shardIndex":0},{"shardIndex":1},{"shardIndex":2},{"shardIndex":3}],"revokingShards":[],` +
		`"shardProgress":[],"incarnation":"01M8MYHJ9ET25VZJ4VYVR7AH2X","sequence":41,"lineage":"01M8MYF0HWXNYRTPG5MHFM0JQ8"}`
	transport := &http.Transport{MaxIdleConnsPerHost: costAtOnce}
	defer transport.CloseIdleConnections()
	through := &http.Client{Transport: transport, Timeout: patience}
	path := api("/streams/orders/groups/readers/members/pod-1/heartbeat")
	var running sync.WaitGroup
	failed := make(chan error, costAtOnce)
	for range costAtOnce {
		running.Go(func() {
			for range count / costAtOnce {
				got, err := sendWith(through, w.url, guardedCall{method: http.MethodPost, path: path, body: body, token: w.token})
				if err == nil && got.status != http.StatusOK {
					err = fmt.Errorf("%d: %s", got.status, got.body)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	running.Wait()
	close(failed)
	require.NoError(t, <-failed, w.name)
}

// processorTime is what a process has used, as Linux counts it.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // the name may have blanks
	total := 0
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.Atoi(field)
		require.NoError(t, err)
		total += ticks
	}
	return time.Duration(total) * tick
}
