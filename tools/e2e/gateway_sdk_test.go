package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

const (
	// sdkRecords are published at sdkRate a second, in batches of sdkBatch.
	sdkRecords, sdkRate, sdkBatch = 20_000, 900, 30
	// sdkMembers consumers have sdkConcurrency logical members each.
	sdkMembers, sdkConcurrency = 4, 2
	// sdkNextSecret is what tokens are signed with after the rotation.
	sdkNextSecret = "canary-next-secret-of-more-than-32-bytes"
)

// sdkScene is a guarded suite with consumers and a producer that log in.
type sdkScene struct {
	*guarded
	*suite // its ledgers, and what reads them

	began   time.Time
	rdb     redis.UniversalClient
	log     *output
	running sync.WaitGroup
	ends    []context.CancelFunc
}

// TestLoggedInMembersReadEverythingThroughTheGateway: consumers that have to log in, and a
// producer, go on while each coordinator is killed and started again, the gateway is
// restarted, and its secret is rotated so that no token of before is good any longer.
// Nothing is lost, no shard has two readers, and as no consumer was killed nothing is handled
// twice (promises 1 and 2).
func TestLoggedInMembersReadEverythingThroughTheGateway(t *testing.T) {
	t.Parallel()
	s := startSDK(t)
	for range sdkMembers {
		s.consumer()
	}
	published := s.publisher()

	steps := []struct {
		at   int // records handled
		what string
		do   func()
	}{
		{2_000, "a coordinator is killed", func() { s.coordinators[0].kill() }},
		{5_000, "it is back", func() { s.coordinators[0].restart(); s.ready(s.coordinators[0]) }},
		{7_000, "the other coordinator is killed", func() { s.coordinators[1].kill() }},
		{10_000, "it is back", func() { s.coordinators[1].restart(); s.ready(s.coordinators[1]) }},
		{11_000, "the gateway is restarted", func() { s.again(guardedSecret, "") }},
		{13_000, "the gateway has another secret, and knows the former", func() { s.again(sdkNextSecret, guardedSecret) }},
		{16_000, "the gateway knows the former secret no more", func() { s.again(sdkNextSecret, "") }},
	}
	for _, step := range steps {
		soon(t, fmt.Sprintf("%d are handled", step.at), func() bool { return s.handledBy() >= step.at })
		t.Logf("after %d handled: %s", s.handledBy(), step.what)
		step.do()
	}
	require.NoError(t, <-published)
	soon(t, "all is handled", func() bool { return prove(s.allLedgers()).handled == sdkRecords })
	require.Zero(t, prove(s.allLedgers()).lost)
	s.leave()
	r := s.check(sdkRecords)
	t.Logf("%d records, %d handlings of %d consumers, lost %d, double readers %d, duplicates %d, %d shards changed hands, %.1f s",
		r.Records, r.Handlings, r.Consumers, r.Lost, r.DoubleReaders, r.Duplicates.Total, r.Moves, r.Seconds)
	s.tellDuplicates()
	require.Zero(t, r.Lost+r.DoubleReaders+r.StaleTokens)
	require.Zero(t, r.Duplicates.Killed+r.Duplicates.Other)
	require.LessOrEqual(t, r.Moves, shards*sdkMembers, "trouble in front of the coordinators moves no shards: only joining and leaving does")
	again := strings.Count(string(s.gateways[0].all.bytes()), `msg="logged in"`)
	require.GreaterOrEqual(t, again, sdkMembers, "all have logged in again")
}

func startSDK(t *testing.T) *sdkScene {
	t.Helper()
	g := startGuarded(t, guardedPlan{
		coordinators: 2, gateways: 1, logLevel: "info",
		// Whatever happens takes less time than a lease: it is not about leases.
		coordinatorFlags: []string{
			"--api-authenticate-member-api=true", "--coordination-member-lease-ttl", "60s", "--coordination-client-lease", "48s",
			"--coordination-rebalance-timeout", "2m",
		},
		gatewayFlags: []string{"--api-authenticate-member-api=true", "--api-token-ttl", "1m"},
	})
	s := &sdkScene{
		guarded: g, began: time.Now(), rdb: g.audited.Client(t), log: &output{},
		suite: &suite{t: t, ledgers: t.TempDir(), books: map[string]*growing{}},
	}
	t.Cleanup(func() {
		s.leave()
		if t.Failed() {
			t.Logf("members wrote:\n%s", s.log.tail())
		}
	})
	g.passes(guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream), token: g.login(userOps),
		body: fmt.Sprintf(`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, shards, group),
	}, http.StatusCreated)
	return s
}

// again ends the gateway and starts it with these secrets.
func (s *sdkScene) again(secret, former string) {
	t := s.guarded.t
	t.Helper()
	text, err := os.ReadFile(s.settings)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, "previous-token-secret:"):
			continue
		case strings.Contains(line, "token-secret:"):
			line = "    token-secret: " + secret + "\n"
			if former != "" {
				line += "    previous-token-secret: " + former + "\n"
			}
		}
		lines = append(lines, line)
	}
	writeSettings(t, s.settings, strings.Join(lines, ""))
	gateway := s.gateways[0]
	require.NoError(t, gateway.cmd.Process.Signal(syscall.SIGTERM))
	gateway.wait()
	gateway.restart()
	s.ready(gateway)
}

// handledBy is how many handlings have ended so far.
func (s *sdkScene) handledBy() int {
	count := 0
	for _, entries := range s.allLedgers() {
		for i := range entries {
			if entries[i].Kind == "end" {
				count++
			}
		}
	}
	return count
}

// tellDuplicates prints the first handlings of records that were handled before.
func (s *sdkScene) tellDuplicates() {
	t := s.guarded.t
	t.Helper()
	type handling struct {
		by string
		entry
	}
	var starts []handling
	for name, entries := range s.allLedgers() {
		for _, one := range of("start", entries) {
			starts = append(starts, handling{name, one})
		}
	}
	slices.SortStableFunc(starts, func(a, b handling) int { return a.at().Compare(b.at()) })
	first := map[int64]handling{}
	told := 0
	for _, one := range starts {
		before, again := first[one.Seq]
		if !again {
			first[one.Seq] = one
		} else if told++; told <= 10 {
			t.Logf("record %d of shard %d (%s): handled by %s under %d at %s, again by %s under %d (%s) at %s", one.Seq, before.Shard, before.ID,
				before.by, before.Fence, before.at().Format(time.StampMilli), one.by, one.Fence, one.ID, one.at().Format(time.StampMilli))
		}
	}
}

// client returns a client that logs in.
func (s *sdkScene) client() *client.Client {
	t := s.guarded.t
	t.Helper()
	c, err := client.New(client.Options{
		CoordinatorURL: s.gateways[0].url(), Redis: s.rdb, Login: client.WithLogin(userMember, passwordOf(userMember)),
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	return c
}

// consumer starts a consumer that keeps a ledger of its own.
func (s *sdkScene) consumer() {
	t := s.guarded.t
	t.Helper()
	name := fmt.Sprintf("pod-%d", len(s.ends))
	c, book := s.client(), s.book(name, "consumer")
	ctx, end := context.WithCancel(t.Context())
	s.ends = append(s.ends, end)
	s.running.Go(func() {
		err := c.Consume(ctx, client.Subscription{
			Stream: stream, Group: group, Concurrency: sdkConcurrency, MemberID: name, AckMode: client.AckAfterHandler,
			ClientLease: 48 * time.Second,
		}, func(_ context.Context, m *client.Message) error {
			seq, err := strconv.ParseInt(m.Fields["seq"], 10, 64)
			if err != nil {
				return err
			}
			book.add(map[string]any{
				"kind": "start", "seq": seq, "key": hashed(m.Key), "sum": hashed(m.Fields["data"]), "shard": m.Shard, "id": m.ID, "fence": m.FenceToken,
			})
			book.add(map[string]any{"kind": "end", "seq": seq, "shard": m.Shard, "id": m.ID})
			return nil
		})
		if err != nil {
			t.Errorf("%s has ended: %v", name, err)
		}
		book.add(map[string]any{"kind": "close"})
		_ = c.Close()
	})
}

// leave has the consumers leave, and waits until they have.
func (s *sdkScene) leave() {
	for _, end := range s.ends {
		end()
	}
	s.running.Wait()
}

// publisher publishes everything, and tells when it has.
func (s *sdkScene) publisher() <-chan error {
	c, book := s.client(), s.book("publisher", "publisher")
	done := make(chan error, 1)
	s.running.Go(func() {
		defer func() { _ = c.Close() }()
		done <- s.publishAll(c, book)
		book.add(map[string]any{"kind": "close"})
	})
	return done
}

func (s *sdkScene) publishAll(c *client.Client, book *ownBook) error {
	ctx := s.guarded.t.Context()
	producer, err := c.NewProducer(ctx, stream, group, client.ProducerOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = producer.Close(context.WithoutCancel(ctx)) }()
	pace := time.NewTicker(time.Second * sdkBatch / sdkRate)
	defer pace.Stop()
	for seq := range slices.Chunk(numbers(sdkRecords), sdkBatch) {
		records := make([]client.Record, len(seq))
		for i, n := range seq {
			key, data := fmt.Sprintf("key-%d", n%997), fmt.Sprintf("data-%d", n)
			records[i] = client.Record{Key: key, Values: []any{"seq", n, "data", data}}
			book.add(map[string]any{"kind": "intent", "seq": n, "key": hashed(key), "sum": hashed(data)})
		}
		results, err := producer.PublishBatch(ctx, records)
		if err != nil {
			return fmt.Errorf("publish %d to %d: %w", seq[0], seq[len(seq)-1], err)
		}
		for i, one := range results {
			book.add(map[string]any{"kind": "ack", "seq": seq[i], "shard": one.Shard, "id": one.ID, "version": 1})
		}
		<-pace.C
	}
	return nil
}

// numbers returns 1 to count.
func numbers(count int) []int64 {
	all := make([]int64, count)
	for i := range all {
		all[i] = int64(i + 1)
	}
	return all
}
