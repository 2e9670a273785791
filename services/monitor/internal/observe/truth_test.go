package observe_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

const watched = "orders:0"

// world is a real Redis with one shard and one group on it, whoever works on it, and a monitor
// whose clock is moved by hand. It keeps what really happened since the last look.
type world struct {
	t        require.TestingT
	ctx      context.Context
	rdb      redis.UniversalClient
	observer *observe.Observer
	book     *rates.Book
	now      time.Time
	next     int64 // the next id

	added, delivered int64
	gone             int64 // unread entries that went away
	passed           int64 // unread entries that a hand has passed over
	remade, undone   bool  // the stream is another one; the group is, or its cursor went back
	counted          bool  // a hand has written a count of the group
	ahead            bool  // a hand has moved the cursor beyond the end of the stream
	lies             bool  // a count by hand may be wrong, and nobody has counted its unread entries since
	recounted        bool  // a hand has written the count of the stream
	taken            bool  // entries were taken away
	restored         bool  // an earlier state was put in the place of the stream
	looks            int64
	before           facts.Shard
}

func newWorld(ctx context.Context, t require.TestingT, rdb redis.UniversalClient) *world {
	w := &world{t: t, ctx: ctx, rdb: rdb, book: rates.NewBook(time.Minute), now: time.UnixMilli(1_767_323_045_000), next: 1}
	w.observer = observe.New(observe.Config{RoundTimeout: 30 * time.Second, MemoryEvery: 4, ConsumersEvery: 5}, observe.Deps{
		Redis: rdb, Groups: &coordinator{groups: []protocol.GroupSnapshot{group("orders", "a", 1)}},
		Now: func() time.Time { return w.now },
	})
	w.make()
	return w
}

// do runs a command; what Redis refuses has not happened.
func (w *world) do(args ...any) bool { return w.rdb.Do(w.ctx, args...).Err() == nil }

func (w *world) make() { w.do("XGROUP", "CREATE", watched, "a", "0", "MKSTREAM") }

func (w *world) add(n int) {
	for range n {
		if done := w.do("XADD", watched, "NOMKSTREAM", fmt.Sprintf("%d-0", w.next), "f", "v"); done {
			w.added++
		}
		w.next++
	}
}

func (w *world) read(n int) {
	streams, err := w.rdb.XReadGroup(w.ctx, &redis.XReadGroupArgs{
		Group: "a", Consumer: "c", Streams: []string{watched, ">"}, Count: int64(n), Block: -1,
	}).Result()
	if err == nil {
		w.delivered += int64(len(streams[0].Messages))
	}
}

// ack acknowledges up to n of the entries that are pending, the oldest first.
func (w *world) ack(n int) {
	pending, err := w.rdb.XPendingExt(w.ctx, &redis.XPendingExtArgs{Stream: watched, Group: "a", Start: "-", End: "+", Count: int64(n)}).Result()
	if err != nil {
		return
	}
	for _, one := range pending {
		w.do("XACK", watched, "a", one.ID)
	}
}

// entries returns the ids that are there, and of those the ones that the group has not read.
func (w *world) entries() (all, unread []string) {
	cursor, there := w.cursor()
	for _, message := range w.rdb.XRange(w.ctx, watched, "-", "+").Val() {
		all = append(all, message.ID)
		if there && number(message.ID) > cursor {
			unread = append(unread, message.ID)
		}
	}
	return all, unread
}

func (w *world) cursor() (int64, bool) {
	groups, err := w.rdb.XInfoGroups(w.ctx, watched).Result()
	if err != nil || len(groups) == 0 {
		return 0, false
	}
	return number(groups[0].LastDeliveredID), true
}

func number(id string) int64 {
	var n int64
	_, _ = fmt.Sscanf(id, "%d-", &n)
	return n
}

// losing does what takes entries away.
func (w *world) losing(take func()) {
	_, before := w.entries()
	take()
	_, after := w.entries()
	w.gone += int64(len(before) - len(after))
	w.taken = true
}

// setID moves the cursor by hand.
func (w *world) setID(to string, more ...any) {
	before, _ := w.cursor()
	_, unread := w.entries()
	if done := w.do(append([]any{"XGROUP", "SETID", watched, "a", to}, more...)...); !done {
		return
	}
	after, _ := w.cursor()
	_, left := w.entries()
	w.passed += int64(max(0, len(unread)-len(left)))
	w.undone = w.undone || after < before
	w.ahead = w.ahead || after >= w.next
	w.counted = w.counted || len(more) > 0
}

// regroup destroys the group and makes it again.
func (w *world) regroup(at string, more ...any) {
	_, unread := w.entries()
	w.do("XGROUP", "DESTROY", watched, "a")
	w.do(append([]any{"XGROUP", "CREATE", watched, "a", at}, more...)...)
	_, left := w.entries()
	w.passed += int64(max(0, len(unread)-len(left)))
	w.undone, w.counted = true, w.counted || len(more) > 0
	cursor, _ := w.cursor()
	w.ahead = w.ahead || cursor >= w.next
}

// remake has another stream in the place of this one.
func (w *world) remake(do func()) {
	do()
	w.added, w.delivered, w.gone, w.passed, w.remade = 0, 0, 0, 0, true
}

// look makes a round and holds what is told of it against the truth.
func (w *world) look(step time.Duration) rates.Rate {
	w.now = w.now.Add(step)
	w.looks++
	round, err := w.observer.Round(w.ctx)
	require.NoError(w.t, err)
	rate := w.book.Add(round).Rate("orders", "a", 0)
	shard := round.Streams[0].Shards[0]
	w.check(&shard, rate, step)
	w.added, w.delivered, w.gone, w.passed = 0, 0, 0, 0
	w.remade, w.undone, w.counted, w.recounted, w.taken, w.restored, w.ahead = false, false, false, false, false, false, false
	w.before = shard
	return rate
}

func (w *world) check(shard *facts.Shard, rate rates.Rate, step time.Duration) {
	t := w.t
	require.NotEqual(t, facts.ProblemUnreachable, shard.Problem, shard.Detail)
	if w.looks == 1 {
		require.Nil(t, rate.ProducedPerSecond, "the first look")
		require.Nil(t, rate.ConsumedPerSecond, "the first look")
	}
	holes := w.before.MaxDeletedID != nil && w.before.FirstID != nil && number(*w.before.MaxDeletedID) > number(*w.before.FirstID)
	if w.restored || w.recounted && (w.taken || w.remade || holes || w.before.Length == 0) {
		w.checkGroup(shard, rate)
		return // what was added and taken away cannot be told from a number that somebody has written
	}
	if rate.ProducedPerSecond != nil {
		require.Positive(t, step)
		produced := *rate.ProducedPerSecond * step.Seconds()
		require.GreaterOrEqual(t, produced, 0.0)
		require.LessOrEqual(t, produced, float64(w.added)+1e-6, "produced")
		if !w.remade { // another stream that has outgrown this one and lost entries looks like it
			require.InDelta(t, w.added, produced, 1e-6, "produced")
		}
	}
	if rate.ConsumedPerSecond != nil {
		require.Positive(t, step)
		consumed := *rate.ConsumedPerSecond * step.Seconds()
		require.GreaterOrEqual(t, consumed, 0.0)
		most := w.delivered + w.gone + w.passed
		if w.counted || w.ahead { // it passes also what is added
			most += w.added
		}
		require.LessOrEqual(t, consumed, float64(most)+1e-6, "consumed")
		if !w.remade && !w.undone && !w.counted {
			require.GreaterOrEqual(t, consumed, float64(w.delivered)-1e-6, "consumed")
		}
		if w.passed > 0 && w.delivered == 0 && !w.counted { // with the right count by hand nobody can tell
			require.Zero(t, consumed, "nobody has read")
		}
	}
	w.checkGroup(shard, rate)
}

// checkGroup holds the lag and the entries that are named against the truth.
func (w *world) checkGroup(shard *facts.Shard, rate rates.Rate) {
	t := w.t
	all, unread := w.entries()
	if _, there := w.cursor(); !there {
		require.False(t, rate.Lag.Known(), "there is no group")
		return
	}
	group := shard.Groups["a"]
	require.EqualValues(t, len(all), shard.Length)
	w.lies = (w.lies || w.counted) && group.Tail == nil && group.EntriesRead != nil
	if rate.Lag.Known() && !w.lies {
		require.EqualValues(t, len(unread), *rate.Lag.Value, "lag, Redis says %v, counted %v", shown(group.Lag), shown(group.Tail))
	}
	if rate.Lag.Known() {
		require.GreaterOrEqual(t, *rate.Lag.Value, int64(0))
		require.LessOrEqual(t, *rate.Lag.Value, int64(len(all)))
	}
	if group.FirstUnreadID != nil {
		require.NotEmpty(t, unread)
		require.Equal(t, unread[0], *group.FirstUnreadID)
	}
	pending := w.rdb.XPendingExt(w.ctx, &redis.XPendingExtArgs{Stream: watched, Group: "a", Start: "-", End: "+", Count: 1}).Val()
	if group.OldestPendingID != nil {
		require.Len(t, pending, 1)
		require.Equal(t, pending[0].ID, *group.OldestPendingID)
	}
	if rate.TrimmedUnread != nil {
		require.GreaterOrEqual(t, *rate.TrimmedUnread, int64(0))
	}
	if rate.TimeToDrainSeconds != nil {
		require.GreaterOrEqual(t, *rate.TimeToDrainSeconds, 0.0)
	}
}

func shown(n *int64) string {
	if n == nil {
		return "nothing"
	}
	return fmt.Sprint(*n)
}

// TestNothingIsInventedWhateverIsDoneToAStream: random commands on a real Redis, hands that
// move cursors and counters among them. A rate and a lag are null or right.
func TestNothingIsInventedWhateverIsDoneToAStream(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	rapid.Check(t, func(rt *rapid.T) {
		require.NoError(rt, rdb.FlushAll(t.Context()).Err())
		w := newWorld(t.Context(), rt, rdb)
		up := func(to int) int { return rapid.IntRange(1, to).Draw(rt, "n") }
		anyID := func() string { return fmt.Sprintf("%d-0", rapid.Int64Range(0, w.next+3).Draw(rt, "id")) }
		var saved string
		rt.Repeat(map[string]func(*rapid.T){
			"add":    func(*rapid.T) { w.add(up(12)) },
			"read":   func(*rapid.T) { w.read(up(12)) },
			"ack":    func(*rapid.T) { w.ack(up(12)) },
			"trim":   func(*rapid.T) { w.losing(func() { w.do("XTRIM", watched, "MAXLEN", up(20)-1) }) },
			"delete": func(*rapid.T) { w.losing(func() { w.do("XDEL", watched, anyID(), anyID(), anyID()) }) },
			"cursor": func(*rapid.T) { w.setID(rapid.SampledFrom([]string{"0", "$", anyID()}).Draw(rt, "to")) },
			"cursor and count": func(*rapid.T) {
				w.setID(rapid.SampledFrom([]string{"0", "$", anyID()}).Draw(rt, "to"), "ENTRIESREAD", up(40)-1)
			},
			"stream id": func(*rapid.T) {
				if done := w.do("XSETID", watched, fmt.Sprintf("%d-0", w.next)); done {
					w.next++
				}
			},
			"stream id and count": func(*rapid.T) {
				if done := w.do("XSETID", watched, fmt.Sprintf("%d-0", w.next), "ENTRIESADDED", 20+up(200), "MAXDELETEDID", "0-0"); done {
					w.next++
					w.recounted = true
				}
			},
			"remake": func(*rapid.T) { w.remake(func() { w.do("DEL", watched); w.make() }) },
			"drop":   func(*rapid.T) { w.remake(func() { w.do("DEL", watched) }) },
			"make":   func(*rapid.T) { w.make() },
			"flush":  func(*rapid.T) { w.remake(func() { w.do("FLUSHALL") }) },
			"other":  func(*rapid.T) { w.remake(func() { w.do("DEL", watched); w.do("SET", watched, "x") }) },
			"regroup": func(*rapid.T) {
				w.regroup(rapid.SampledFrom([]string{"0", "$", anyID()}).Draw(rt, "at"))
			},
			"regroup and count": func(*rapid.T) {
				w.regroup(rapid.SampledFrom([]string{"0", "$", anyID()}).Draw(rt, "at"), "ENTRIESREAD", up(40)-1)
			},
			"save": func(*rapid.T) { saved = rdb.Dump(t.Context(), watched).Val() },
			"restore": func(*rapid.T) {
				if saved != "" {
					w.do("RESTORE", watched, 0, saved, "REPLACE")
					w.restored, w.counted = true, true
				}
			},
			"look":       func(*rapid.T) { w.look(time.Duration(rapid.IntRange(-2, 20).Draw(rt, "seconds")) * time.Second) },
			"look again": func(*rapid.T) { w.look(5 * time.Second) },
		})
	})
}
