package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	// The releases that take turns: that of this tree, and the same with a newer schema of records.
	releaseNow, releaseNext = "coordinator", "coordinator-next"

	// updateLease is how long members may go on without an answer.
	updateLease = 20 * time.Second
)

// update is two coordinators of changing releases under the load of a fleet.
type update struct {
	t       *testing.T
	fleet   *fleet
	rdb     *redis.Client
	flags   []string
	running [2]*process
	streams []string
	perOne  int // members of a stream's group
	pause   time.Duration
	joined  int
	leave   []context.CancelFunc // of the member of each stream that leaves next
	sailing context.Context
}

// TestCoordinatorsAreUpdatedAndPutBackUnderLoad: storage, Versions; reliability FT11; ADR 0018.
// Two coordinators are replaced one after the other by a release that writes a newer schema,
// which comes into use when both run it, and then by the older one again. Members join and leave
// all the while. Nobody is fenced, no heartbeat gets another error than a retriable 503, and no
// shard ever has two readers.
//
// RSC_E2E_ROLLING=MEMBERS,ROUNDS,PAUSE makes it bigger, for example 2000,4,10s: so many
// there-and-backs, with a pause between two replacements.
func TestCoordinatorsAreUpdatedAndPutBackUnderLoad(t *testing.T) {
	t.Parallel()
	members, rounds, pause := rollingSize(t)
	u := startUpdate(t, members, pause)
	for range rounds {
		for i := range u.running {
			u.replace(i, releaseNext)
		}
		u.await(2)
		for i := range u.running {
			u.replace(i, releaseNow)
		}
		u.await(1)
	}
	u.finish(members)
}

// rollingSize reads RSC_E2E_ROLLING.
func rollingSize(t *testing.T) (members, rounds int, pause time.Duration) {
	t.Helper()
	text := os.Getenv("RSC_E2E_ROLLING")
	if text == "" {
		return 120, 1, 0
	}
	var last string
	_, err := fmt.Sscanf(text, "%d,%d,%s", &members, &rounds, &last)
	require.NoError(t, err, "RSC_E2E_ROLLING is MEMBERS,ROUNDS,PAUSE")
	pause, err = time.ParseDuration(last)
	require.NoError(t, err)
	return members, rounds, pause
}

func startUpdate(t *testing.T, members int, pause time.Duration) *update {
	t.Helper()
	server := redisproc.Start(t)
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	buildNext(t)
	u := &update{t: t, rdb: server.Client(t), perOne: 20, pause: pause}
	if members >= 1000 {
		u.perOne = 100
	}
	u.flags = []string{
		"--redis-host", host, "--redis-port", port, "--dev", "--log-level", "warn", "--metrics-listen", "",
		"--coordination-heartbeat-interval", "3s", "--coordination-client-lease", updateLease.String(),
		"--coordination-member-lease-ttl", "25s", "--coordination-rebalance-timeout", "2m",
	}
	u.fleet = newFleet(t, updateLease, freeAddress(t), freeAddress(t))
	for i := range u.running {
		u.start(i, releaseNow)
	}
	for i := range members / u.perOne {
		u.streams = append(u.streams, "orders-"+strconv.Itoa(i))
	}
	u.create()
	var stop context.CancelFunc
	u.sailing, stop = context.WithCancel(t.Context())
	t.Cleanup(func() {
		stop()
		u.fleet.running.Wait()
	})
	for _, stream := range u.streams {
		for range u.perOne {
			u.join(stream)
		}
	}
	u.beat()
	return u
}

// buildNext builds the release to come.
func buildNext(t *testing.T) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-tags", "rsc_next_schema",
		"-o", filepath.Join(binaries, releaseNext), "./cmd/coordinator")
	build.Dir = filepath.Join("..", "..", "services", "coordinator")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func (u *update) create() {
	u.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: "http://" + u.fleet.addresses[0]})
	require.NoError(u.t, err)
	defer func() { _ = c.Close() }()
	count := u.perOne + u.perOne/4
	for _, stream := range u.streams {
		_, err := c.Admin().CreateStream(u.t.Context(), stream, protocol.CreateStreamRequest{
			InitialShardCount: &count, ConsumerGroups: []string{group}, RequestedBy: "e2e",
		})
		require.NoError(u.t, err)
	}
}

// join lets a new member join, which leaves when it is its turn.
func (u *update) join(stream string) {
	leave, cancel := context.WithCancel(u.sailing)
	u.joined++
	u.leave = append(u.leave, cancel)
	u.fleet.join(u.sailing, leave, stream, fmt.Sprintf("pod-%04d", u.joined))
}

// start starts a coordinator of a release at its place, and waits until it wants requests.
func (u *update) start(i int, release string) {
	u.t.Helper()
	at := u.fleet.addresses[i]
	u.running[i] = start(u.t, fmt.Sprintf("%s %d", release, i), release, append([]string{"--listen", at}, u.flags...)...)
	u.soon(fmt.Sprintf("%s is ready", u.running[i].name), func() bool {
		require.False(u.t, u.running[i].ended(), "it has ended:\n%s", u.running[i].all.tail())
		request, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, "http://"+at+"/readyz", http.NoBody)
		require.NoError(u.t, err)
		answer, err := u.fleet.http.Do(request)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// replace ends a coordinator and starts one of the release in its place. In each group a member
// leaves and another one joins meanwhile.
func (u *update) replace(i int, release string) {
	u.t.Helper()
	began := u.fleet.now()
	u.churn()
	require.NoError(u.t, u.running[i].cmd.Process.Signal(syscall.SIGTERM))
	u.running[i].wait()
	u.start(i, release)
	u.beat()
	u.soon("the pause is over", func() bool { return u.fleet.now()-began >= u.pause })
}

// churn lets the oldest member of each group leave, and a new one join.
func (u *update) churn() {
	for at := range u.streams {
		u.leave[at*u.perOne]()
	}
	kept := u.leave
	u.leave = nil
	for at, stream := range u.streams {
		u.leave = append(u.leave, kept[at*u.perOne+1:(at+1)*u.perOne]...)
		u.join(stream)
	}
}

// beat waits until there were two heartbeats for each member.
func (u *update) beat() {
	u.t.Helper()
	from := u.fleet.beats.Load()
	u.soon("members heartbeat", func() bool { return u.fleet.beats.Load() >= from+int64(2*len(u.leave)) })
}

// await waits until every group's record is written in the schema; for that each has to change
// now and then.
func (u *update) await(schema int) {
	u.t.Helper()
	u.soon(fmt.Sprintf("records are in schema %d", schema), func() bool {
		behind := 0
		for _, stream := range u.streams {
			found, err := u.rdb.HGet(u.t.Context(), "redis-stream:coord:{"+stream+":"+group+"}:metadata", "schemaVersion").Int()
			require.NoError(u.t, err)
			if found != schema {
				behind++
			}
		}
		if behind == 0 {
			return true
		}
		u.churn()
		u.beat()
		return false
	})
}

// finish compares what came of it all.
func (u *update) finish(members int) {
	u.t.Helper()
	u.beat()
	f := u.fleet
	u.t.Logf("%d members in %d groups, %d joins, %.0f s: %d heartbeats, %d shards changed hands; refused: %d at a connection, %d by a coordinator that ended, %d by one that could not decide",
		members, len(u.streams), u.joined, f.now().Seconds(), f.beats.Load(), f.moves.Load(), f.refused.Load(), f.ending.Load(), f.behind.Load())
	require.Greater(u.t, f.moves.Load(), int64(len(u.streams)*u.perOne), "shards changed hands meanwhile")
}

// soon waits for a condition while nothing goes wrong.
func (u *update) soon(what string, condition func() bool) {
	u.t.Helper()
	soon(u.t, what, func() bool {
		require.Empty(u.t, u.fleet.wrong())
		return condition()
	})
}
