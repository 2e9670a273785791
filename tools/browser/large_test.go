package browser_test

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// How much there is to see in a large suite: many groups, and one large one.
const (
	manyGroups               = 1_000
	fullGroups, fullShards   = 64, 64 // those of them with more than one shard
	largeShards, largeNumber = 4_096, 1_000
	together                 = 16 // requests at once
)

// Bounds of a page, however much there is to see (performance P26).
const (
	usableWithin = 2 * time.Second
	// emptyPages is how many times as long as an empty page it may take where that is more: then
	// it is the machine that is slow.
	emptyPages = 12
	mostBytes  = 300_000
	mostNodes  = 6_000
	// loadTries is how often a page is loaded at most, until it is usable in time: a machine that
	// stands still for a moment says nothing about the console.
	loadTries = 5
)

//go:embed testdata/load.js
var load string

// loaded is how a page was loaded, with times in milliseconds.
type loaded struct {
	Answered, Ready, Painted float64
	Bytes, Nodes             int
}

func (l loaded) usable() time.Duration {
	return time.Duration(max(l.Ready, l.Painted) * float64(time.Millisecond))
}

// Performance P26; monitoring, Console: pages stay quick and small however many groups, shards and
// members there are.
func TestEveryPageIsQuickHoweverMuchThereIsToSee(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false", "RSC_OBSERVE_INTERVAL=5s", "RSC_OBSERVE_STRUCTURE_INTERVAL=1m", "RSC_API_RATE_LIMIT_ENABLED=false",
		"RSC_COORDINATION_EVENT_LOOP_INTERVAL=1m",
		"RSC_COORDINATION_MEMBER_LEASE_TTL=10m", "RSC_COORDINATION_CLIENT_LEASE=8m", "RSC_COORDINATION_REBALANCE_TIMEOUT=30m")
	s.grows(t)
	w := s.signedIn(t, userOps)
	figures := []string{w.loads("/nothing").told("nothing, to compare")}
	for _, page := range [][3]string{
		{"overview", "", "1–100 of 1 001"},
		{"its last groups", "?at=10", "901–1 000 of 1 001"},
		{"overview, some streams", "?q=stream-63", "stream-639 / readers"},
		{"group of 64 shards", "/streams/stream-0/groups/readers", "Shards Shard Read by"},
		{"group of 4,096 shards", bookingRoom, "1–100 of 4 096"},
		{"its last shards", bookingRoom + "?at=41", "4 001–4 096 of 4 096"},
		{"its last members", bookingRoom + "?members=10", "901–1 000 of 1 000"},
		{"one of its shards", bookingRoom + "?shard=4095", "4095 m-"},
		{"those that nobody reads", bookingRoom + "?open=1", "1–100 of 4 096"},
		{"its records", bookingRoom + "/messages?limit=100", "There are 4 096."},
		{"its plan", bookingRoom + "/scale?to=4097", "Plan: 4 096 → 4 097 shards"},
		{"audit", "/audit", "create stream"},
		{"system", "/system", "1 001 groups seen"},
	} {
		figures = append(figures, w.quick(page[0], page[1], page[2]))
	}
	t.Logf("answered, ready and painted after, in ms; bytes; elements:\n%s", strings.Join(figures, "\n"))
	w.forgive(refused)
	w.blameless()
}

// quick loads a page until it was usable in time, and tells how it was loaded then. The page has to
// say something, with spaces for spaces of any kind.
func (w *window) quick(name, path, says string) string {
	w.t.Helper()
	for try := 1; ; try++ {
		got := w.loads(path)
		said := strings.ReplaceAll(w.text("document.querySelector('main').innerText"), "\u202f", " ")
		require.Contains(w.t, strings.Join(strings.Fields(said), " "), says, name)
		require.Less(w.t, got.Bytes, mostBytes, name)
		require.Less(w.t, got.Nodes, mostNodes, name)
		if got.usable() <= usableWithin || got.usable() <= emptyPages*w.loads("/nothing").usable() {
			return got.told(name)
		}
		require.Less(w.t, try, loadTries, "%s takes too long: %+v", name, got)
	}
}

// loads goes to a page and tells how it was loaded.
func (w *window) loads(path string) loaded {
	w.t.Helper()
	w.visit(path)
	w.until(load + " !== null")
	return eval[loaded](w, load)
}

func (l loaded) told(name string) string {
	return fmt.Sprintf("%-24s %6.0f %6.0f %6.0f %8d %6d", name, l.Answered, l.Ready, l.Painted, l.Bytes, l.Nodes)
}

// grows makes many groups and a large one, and waits until the monitor has seen all of it.
func (s *suite) grows(t *testing.T) {
	t.Helper()
	require.NoError(t, atOnce(manyGroups, func(i int) error {
		count := 1
		if i < fullGroups {
			count = fullShards
		}
		return s.makes(t, fmt.Sprintf("stream-%d", i), "readers", count)
	}))
	require.NoError(t, s.makes(t, payments, booking, largeShards))
	_, err := s.redis.Client(t).Pipelined(t.Context(), func(all redis.Pipeliner) error {
		for shard := range largeShards {
			all.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey(payments, shard), Values: []string{"payload", `{"amount": 1}`}})
		}
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, atOnce(largeNumber, func(i int) error {
		member := fmt.Sprintf("m-%04d", i)
		return s.ask(t, bookingRoom+"/members/"+member+"/heartbeat", joining(member))
	}))
	require.Eventually(t, func() bool {
		rows, err := s.admin.GroupRows(t.Context())
		return err == nil && len(rows) == manyGroups+1 && slices.ContainsFunc(rows, func(row protocol.GrafanaGroupRow) bool {
			return row.TotalMembers == largeNumber
		})
	}, patience, often, "the monitor has seen all of it")
}

// makes creates a stream with a group.
func (s *suite) makes(t *testing.T, stream, group string, shards int) error {
	t.Helper()
	_, err := s.admin.CreateStream(t.Context(), stream, protocol.CreateStreamRequest{
		InitialShardCount: &shards, ConsumerGroups: []string{group}, RequestedBy: "browser",
	})
	return err
}

// atOnce does something so often, some of it at a time, and returns what went wrong.
func atOnce(count int, do func(i int) error) error {
	todo, failed := make(chan int), make([]error, count)
	var doing sync.WaitGroup
	for range together {
		doing.Go(func() {
			for i := range todo {
				failed[i] = do(i)
			}
		})
	}
	for i := range count {
		todo <- i
	}
	close(todo)
	doing.Wait()
	return errors.Join(failed...)
}
