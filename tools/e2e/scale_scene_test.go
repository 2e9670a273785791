package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

const (
	// shortRouting is the shortest routing lease that a coordinator takes.
	shortRouting = 5 * time.Second
	// endless is more records than a publisher gets to before it is told to stop, apart is
	// how far the numbers of publishers lie apart.
	endless, apart = 1_000_000, 10_000_000
	// scaleBatch is how many records of a load are published at once.
	scaleBatch = "20"
	// scaleBudget bounds one change of the shard count.
	scaleBudget = 4 * time.Minute
)

// quickly returns settings by which changes of the shard count take little time, also when
// a coordinator dies in the middle of a step or records went back.
func quickly() []string {
	return []string{
		"--coordination-routing-lease", shortRouting.String(), "--coordination-state-mutex-ttl-ms", "5000",
		"--coordination-event-loop-reshard-interval", "100ms", "--coordination-event-loop-reshard-scan", "500ms",
		"--coordination-event-loop-sweep-interval", "5s",
	}
}

// scaling is a suite whose stream changes its shard count under load.
type scaling struct {
	*suite
	rdb        redis.UniversalClient
	names      []string // of the consumers
	consumers  []*process
	publishers map[string]*process
	// inHand is how many records consumers had in a handler when they were frozen: that
	// many handlings may end after others have taken over (reliability C3).
	inHand int
}

func startScaling(t *testing.T, settings ...string) *scaling {
	t.Helper()
	return scalingOf(startSuite(t, settings...))
}

func scalingOf(s *suite) *scaling {
	return &scaling{suite: s, rdb: s.connect(), publishers: map[string]*process{}}
}

// read starts consumers.
func (s *scaling) read(count int, flags ...string) {
	s.t.Helper()
	for range count {
		name := fmt.Sprintf("c%d", len(s.names)+1)
		s.names = append(s.names, name)
		s.consumers = append(s.consumers, s.consume(name, flags...))
	}
	s.stable(len(s.names))
}

// load starts a publisher that goes on until it is told to stop, at so many records a
// second, also when the stream has no shards.
func (s *scaling) load(name string, rate int, flags ...string) *process {
	s.t.Helper()
	p := start(s.t, name, "replay", append([]string{
		"publish", "--attached", "--patient", "--name", name, "--stream", stream, "--group", group,
		"--generate", strconv.Itoa(endless), "--seed", strconv.Itoa(len(s.publishers) + 2),
		"--after", strconv.Itoa((len(s.publishers) + 1) * apart), "--rate", strconv.Itoa(rate), "--publish-batch", scaleBatch,
		"--ledgers", s.ledgers, "--coordinator", s.front, "--redis", s.redis, "--verbose",
	}, flags...)...)
	s.publishers[name] = p
	s.eventually(func() bool { return len(s.acks(name)) > 0 }, name+" publishes")
	return p
}

// acks returns the records that a publisher knows to be written.
func (s *scaling) acks(name string) []entry { return of("ack", s.ledger(name)) }

// stop has everything end like ending, and shows that consumers have made no duplicates.
func (s *scaling) stop(flags ...string) report {
	s.t.Helper()
	r := s.ending(flags...)
	require.Zero(s.t, r.Duplicates.Killed+r.Duplicates.Other, "consumers make no duplicates of a planned change (reliability C5)")
	return r
}

// ending has the publishers stop, and waits until all they have published is handled and
// the consumers have left. It returns what replay proves.
func (s *scaling) ending(flags ...string) report {
	s.t.Helper()
	for _, p := range s.publishers {
		p.release()
	}
	s.finally(func() bool {
		acked := 0
		for _, entries := range s.allLedgers() {
			for _, one := range entries {
				if one.Kind == "ack" {
					acked++
				}
			}
		}
		return s.handled(s.names...) >= acked && prove(s.allLedgers()).lost == 0
	}, "everything is handled")
	for _, one := range s.consumers {
		one.release()
	}
	p := start(s.t, "check", "replay", append([]string{"check", "--ledgers", s.ledgers, "--json"}, flags...)...)
	<-p.done
	r := parse(s.t, p)
	s.t.Logf("%d records of %d publishers, %d handled in %d handlings by %d consumers, lost %d, double readers %d, "+
		"duplicates %d (%d published twice, %d of killed, %d other), refused %d and uncertain %d %v, %d of %d keys out of order, "+
		"%d shards changed hands, %.1f s", r.Published, len(s.publishers), r.Handled, r.Handlings, r.Consumers, r.Lost,
		r.DoubleReaders, r.Duplicates.Total, r.Duplicates.Republished, r.Duplicates.Killed, r.Duplicates.Other, r.Refused,
		r.Uncertain, r.Causes, r.OutOfOrderKeys, r.Keys, r.Moves, r.Seconds)
	own := prove(s.allLedgers())
	require.Zero(s.t, own.lost, "the ledgers as the test reads them; replay says %+v", r)
	require.Equal(s.t, r.Published, own.acked)
	require.Equal(s.t, r.DoubleReaders == 0, r.Holds, "%+v", r)
	require.LessOrEqual(s.t, r.DoubleReaders, s.inHand, r.Faults)
	require.Zero(s.t, r.Lost+r.StaleTokens+r.Strangers+r.Altered)
	return r
}

// course is one change of the shard count, as it was watched.
type course struct {
	id     string
	asked  time.Time
	states map[string]time.Time // when each was seen first
	sealed map[int]time.Time
	kept   map[int][]string // why each removed shard was not sealed yet, one after the other
	last   protocol.Migration
}

// scale asks for another shard count.
func (s *scaling) scale(admin *client.Admin, count int) *course {
	s.t.Helper()
	asked := time.Now()
	answer, err := admin.Scale(s.t.Context(), stream, protocol.ScaleRequest{
		TargetShardCount: &count, RequestedBy: "e2e", Reason: "load",
	})
	require.NoError(s.t, err)
	require.Len(s.t, answer.Migrations, 1)
	return &course{
		id: answer.Migrations[0].ReshardingID, asked: asked, states: map[string]time.Time{},
		sealed: map[int]time.Time{}, kept: map[int][]string{},
	}
}

// follow watches a change to its end.
func (s *scaling) follow(admin *client.Admin, c *course) *course {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), scaleBudget)
	defer cancel()
	var err error
	c.last, err = admin.WatchMigrationWith(ctx, stream, group, c.id, client.WatchOptions{Interval: 100 * time.Millisecond}, c.note)
	require.NoError(s.t, err, "last seen: %s", shown(c.last))
	return c
}

// note takes in what is new.
func (c *course) note(m protocol.Migration) {
	if _, known := c.states[string(m.State)]; !known {
		c.states[string(m.State)] = time.Now()
	}
	for _, one := range m.Progress.Shards {
		if _, known := c.sealed[one.ShardIndex]; !known && one.Phase == protocol.DrainSealed {
			c.sealed[one.ShardIndex] = time.Now()
		}
		if one.Reason == nil {
			continue
		}
		reasons := c.kept[one.ShardIndex]
		if len(reasons) == 0 || reasons[len(reasons)-1] != string(*one.Reason) {
			c.kept[one.ShardIndex] = append(reasons, string(*one.Reason))
		}
	}
}

// after tells how long after the order something was seen.
func (c *course) after(at time.Time) string {
	return at.Sub(c.asked).Round(10 * time.Millisecond).String()
}

func shown(m protocol.Migration) string {
	text, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// tell prints when which state was seen.
func (s *scaling) tell(c *course) {
	s.t.Helper()
	var states []string
	for state, at := range c.states {
		states = append(states, fmt.Sprintf("%s %s", c.after(at), state))
	}
	slices.Sort(states)
	s.t.Logf("%d -> %d: seen after %s", c.last.FromShardCount, c.last.ToShardCount, strings.Join(states, ", "))
}

// keptKey is where the entries of a sealed shard are.
func keptKey(shard int, id string) string {
	return "redis-stream:coord:retired:{" + routing.StreamKey(stream, shard) + "}:" + id
}

// requireSealed shows that these shards cannot be written any more and that their entries
// are kept. It prints the evidence of each, which the record has of all but the forgotten.
func (s *scaling) requireSealed(c *course, from, to int, forgotten ...int) {
	s.t.Helper()
	require.Len(s.t, c.last.Progress.Shards, to-from)
	for i, one := range c.last.Progress.Shards {
		shard := from + i
		key, ctx := routing.StreamKey(stream, shard), s.t.Context()
		require.Equal(s.t, shard, one.ShardIndex)
		require.Equal(s.t, protocol.DrainSealed, one.Phase)
		kind, err := s.rdb.Type(ctx, key).Result()
		require.NoError(s.t, err)
		require.Equal(s.t, "string", kind, key)
		mark, err := s.rdb.Get(ctx, key).Result()
		require.NoError(s.t, err)
		require.Equal(s.t, "retired:"+c.id, mark)
		for _, noMake := range []bool{true, false} {
			err := s.rdb.XAdd(ctx, &redis.XAddArgs{Stream: key, NoMkStream: noMake, Values: []any{"late", 1}}).Err()
			require.ErrorContains(s.t, err, "WRONGTYPE", "%s takes nothing", key)
		}
		require.NotNil(s.t, one.RetiredKey)
		require.Equal(s.t, keptKey(shard, c.id), *one.RetiredKey)
		entries, err := s.rdb.XLen(ctx, *one.RetiredKey).Result()
		require.NoError(s.t, err)
		kept, err := s.rdb.TTL(ctx, *one.RetiredKey).Result()
		require.NoError(s.t, err)
		require.Greater(s.t, kept, 24*time.Hour)
		proof := protocol.DrainProof("forgotten")
		if one.Proof != nil {
			proof = *one.Proof
		}
		require.Equal(s.t, slices.Contains(forgotten, shard), one.Proof == nil, "the proof of shard %d", shard)
		s.t.Logf("shard %d: sealed after %s, proof %s, %d entries kept for %s; before that %s", shard,
			c.after(c.sealed[shard]), proof, entries, kept, strings.Join(c.kept[shard], ", "))
	}
}

// spot is where an entry is.
type spot struct {
	shard int
	id    string
}

// requireKept shows that every acknowledged record is where its publisher was told, in a
// shard or in what is kept of a sealed one.
func (s *scaling) requireKept() {
	s.t.Helper()
	found := map[spot]bool{}
	counts := map[string]int{} // by what kind of key
	for _, kind := range []string{stream + ":", "redis-stream:coord:retired:{" + stream + ":"} {
		for _, key := range s.keysOf(kind) {
			index, _, _ := strings.Cut(strings.TrimPrefix(key, kind), "}")
			shard, err := strconv.Atoi(index)
			require.NoError(s.t, err, key)
			if s.rdb.Type(s.t.Context(), key).Val() == "stream" {
				counts[kind] += s.collect(found, shard, key)
			}
		}
	}
	missing := 0
	for name, entries := range s.allLedgers() {
		for _, one := range of("ack", entries) {
			if !found[spot{one.Shard, one.ID}] {
				missing++
				s.t.Logf("record %d of %s is not in shard %d as %s", one.Seq, name, one.Shard, one.ID)
			}
		}
	}
	s.t.Logf("entries by the kind of their keys: %v; %d acknowledged ones missing", counts, missing)
	require.Zero(s.t, missing, "acknowledged records that are nowhere")
}

// keysOf returns the keys that begin like this, of all nodes.
func (s *scaling) keysOf(prefix string) []string {
	s.t.Helper()
	var mu sync.Mutex
	var found []string
	look := func(ctx context.Context, node *redis.Client) error {
		keys, err := node.Keys(ctx, prefix+"*").Result()
		mu.Lock()
		defer mu.Unlock()
		found = append(found, keys...)
		return err
	}
	switch rdb := s.rdb.(type) {
	case *redis.ClusterClient:
		require.NoError(s.t, rdb.ForEachMaster(s.t.Context(), look))
	case *redis.Client:
		require.NoError(s.t, look(s.t.Context(), rdb))
	default:
		require.Fail(s.t, "another client", "%T", rdb)
	}
	return found
}

// collect takes in the entries of a key.
func (s *scaling) collect(found map[spot]bool, shard int, key string) (count int) {
	s.t.Helper()
	const atOnce = 10_000
	from := "-"
	for {
		entries, err := s.rdb.XRangeN(s.t.Context(), key, from, "+", atOnce).Result()
		require.NoError(s.t, err, key)
		for _, one := range entries {
			found[spot{shard, one.ID}] = true
		}
		count += len(entries)
		if len(entries) < atOnce {
			return count
		}
		from = "(" + entries[len(entries)-1].ID
	}
}
