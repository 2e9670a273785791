package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	patience = 2 * time.Minute
	interval = 20 * time.Millisecond
)

// running is a coordinator as operators run it.
type running struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  output
	args []string
	url  string
	end  chan struct{}
	exit error // once end is closed
}

// output is what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "coordinator")
	text, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".").CombinedOutput()
	require.NoErrorf(t, err, "%s", text)
	return path
}

// startProcess runs the binary on a free port and waits until it serves.
func startProcess(t *testing.T, binary string, args ...string) *running {
	t.Helper()
	p := &running{t: t, args: append([]string{binary, "--dev"}, args...)}
	p.launch()
	t.Cleanup(p.kill)
	return p
}

// launch starts the process on a free port that it chooses itself: one that was given back
// may be anybody's.
func (p *running) launch() {
	p.t.Helper()
	p.log = output{}
	p.cmd = exec.Command(p.args[0], append(p.args[1:], "--listen", "127.0.0.1:0", "--metrics-listen", "")...)
	p.cmd.Stderr = &p.log
	require.NoError(p.t, p.cmd.Start())
	p.end = make(chan struct{})
	go func() {
		p.exit = p.cmd.Wait()
		close(p.end)
	}()
	serving := regexp.MustCompile(`msg="coordinator serves".* address=(\S+)`)
	require.Eventuallyf(p.t, func() bool {
		found := serving.FindStringSubmatch(p.log.String())
		if found != nil {
			p.url = "http://" + found[1]
		}
		return found != nil
	}, patience, interval, "not serving")
}

// kill ends the process as a crash would.
func (p *running) kill() {
	_ = p.cmd.Process.Kill()
	select {
	case <-p.end:
	case <-time.After(patience):
		p.t.Error("the process did not end")
	}
}

func (p *running) call(method, path string, body, out any) int {
	p.t.Helper()
	data, err := json.Marshal(body)
	require.NoError(p.t, err)
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/coord/v1"+path, bytes.NewReader(data))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	require.NoErrorf(p.t, err, "%s", p.log.String())
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	require.NoErrorf(p.t, json.Unmarshal(text, out), "%s", text)
	return answer.StatusCode
}

// beat sends the heartbeat of a member that reports owned at an epoch.
func (p *running) beat(id string, sequence int64, last protocol.HeartbeatResponse) protocol.HeartbeatResponse {
	p.t.Helper()
	var answer protocol.HeartbeatResponse
	status := p.call("POST", "/streams/orders/groups/billing/members/"+id+"/heartbeat", protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: fmt.Sprint(id, sequence), MemberID: id, MemberEpoch: last.MemberEpoch,
		MetadataVersion: last.MetadataVersion, Lineage: last.Lineage, Incarnation: "01J0000000000000000000000" + id,
		Sequence: sequence, OwnedShards: last.Assignment.AssignedShards,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}, &answer)
	require.Equalf(p.t, http.StatusOK, status, "%+v", answer)
	return answer
}

// A coordinator that is killed and started again in the middle takes the state up from
// Redis: members go on within their lease and nobody is fenced.
func TestMembersGoOnAfterTheCoordinatorWasKilled(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	p := startProcess(t, build(t), "--redis-host", "127.0.0.1", "--redis-port", strings.TrimPrefix(redis.Addr(), "127.0.0.1:"),
		"--coordination-member-lease-ttl", "5m", "--coordination-client-lease", "4m", "--coordination-rebalance-timeout", "10m")
	shards := 4
	var made json.RawMessage
	require.Equalf(t, http.StatusCreated, p.call("POST", "/streams/orders", protocol.CreateStreamRequest{
		InitialShardCount: &shards, ConsumerGroups: []string{"billing"}, RequestedBy: "test",
	}, &made), "%s", made)
	sequence := int64(0)
	last := map[string]protocol.HeartbeatResponse{"a": {}, "b": {}}
	require.Eventually(t, func() bool {
		settled := true
		for _, id := range []string{"a", "b"} {
			sequence++
			before := last[id]
			last[id] = p.beat(id, sequence, before)
			settled = settled && len(last[id].Assignment.AssignedShards) == 2 && len(before.Assignment.AssignedShards) == 2
		}
		return settled
	}, patience, interval)

	for range 3 {
		p.kill()
		p.launch()
		for _, id := range []string{"a", "b"} {
			sequence++
			answer := p.beat(id, sequence, last[id])
			require.Equal(t, protocol.StatusOK, answer.Status)
			require.Equal(t, last[id].MemberEpoch, answer.MemberEpoch)
			require.Equal(t, last[id].Lineage, answer.Lineage)
			require.Equal(t, last[id].MetadataVersion, answer.MetadataVersion, "nothing was changed")
			require.Equal(t, last[id].Assignment, answer.Assignment)
			require.Equal(t, int64(240_000), answer.LeaseMs)
		}
	}
	var group protocol.GroupResponse
	require.Equal(t, http.StatusOK, p.call("GET", "/streams/orders/groups/billing", nil, &group))
	require.Equal(t, protocol.GroupStable, group.State)
}

func TestSignalsEndItCleanly(t *testing.T) {
	t.Parallel()
	redis, binary := redisproc.Start(t), build(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := startProcess(t, binary, "--redis-port", strings.TrimPrefix(redis.Addr(), "127.0.0.1:"), "--log-format", "text")
		require.NoError(t, p.cmd.Process.Signal(signal))
		<-p.end
		require.NoError(t, p.exit, "exit code 0")
		require.Contains(t, p.log.String(), `msg="coordinator has ended" clean=true`)
	}
}
