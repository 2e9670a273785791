package rates_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// TestRatesAreNullOrTheTruth: whatever happens to a stream and its group, a rate that is shown
// is the number of entries that were really added, or delivered, in the time.
func TestRatesAreNullOrTheTruth(t *testing.T) {
	t.Parallel()
	const runs = 20 // of rapid's own number: what breaks the rules takes three or four steps in a row
	for range runs {
		rapid.Check(t, anyHistory)
	}
}

func anyHistory(t *rapid.T) {
	h := &history{server: newServer(rapid.Bool().Draw(t, "newer")), book: rates.NewBook(time.Minute)}
	h.saved = h.server.clone()
	t.Repeat(map[string]func(*rapid.T){
		"add":     func(t *rapid.T) { h.add(rapid.IntRange(1, 150).Draw(t, "n")) },
		"read":    func(t *rapid.T) { h.server.read(rapid.IntRange(1, 150).Draw(t, "n")) },
		"trim":    func(t *rapid.T) { h.server.trim(rapid.IntRange(0, 120).Draw(t, "n")) },
		"delete":  h.remove,
		"save":    func(*rapid.T) { h.saved = h.server.clone() },
		"restore": func(*rapid.T) { h.restore() },
		"drop":    func(*rapid.T) { h.drop() },
		"back":    h.back,
		"miss":    h.miss,
		"forward": func(*rapid.T) { h.forward() },
		"observe": h.observe,
	})
}

// history is a server with what was observed of it.
type history struct {
	server, saved *server
	book          *rates.Book
	rounds        int64
	// What happened since the last observation.
	added           int64
	delivered, lost int64 // of the group at the last observation
	skipped         int64 // by hand
	dropped, undone bool
	runs            int
}

func (h *history) add(n int) {
	h.server.add(n)
	h.added += int64(n)
}

func (h *history) remove(t *rapid.T) {
	if n := len(h.server.entries); n > 0 {
		h.server.remove(rapid.IntRange(0, n-1).Draw(t, "index"))
	}
}

// restore puts an earlier state in place of this one, as a restart or a failover does.
func (h *history) restore() {
	h.runs++
	now, clock := h.server.now, h.server.clock
	h.server = h.saved.clone()
	h.server.now, h.server.clock, h.server.runID = now, clock, fmt.Sprintf("run-%d", h.runs)
	h.server.group.read = nil // not replicated (F05)
}

// drop deletes the key. What is counted from here on is of the new stream.
func (h *history) drop() {
	h.server.drop()
	h.added, h.delivered, h.lost, h.dropped = 0, 0, 0, true
}

// back is XGROUP SETID to an earlier id.
func (h *history) back(t *rapid.T) {
	g := h.server.group
	h.undone = true
	g.cursor, g.read = rapid.Int64Range(0, g.cursor).Draw(t, "cursor"), nil
}

// forward is XGROUP SETID to the last id.
func (h *history) forward() {
	g := h.server.group
	h.skipped += int64(len(h.server.unread()))
	g.cursor, g.read = max(g.cursor, h.server.last), nil
}

// miss is a round in which the shard could not be read.
func (h *history) miss(t *rapid.T) {
	problem := rapid.SampledFrom([]facts.Problem{facts.ProblemUnreachable, facts.ProblemMissing}).Draw(t, "problem")
	h.rounds++
	snap := h.book.Add(roundOf(h.rounds, facts.Shard{Problem: problem, At: h.server.now}))
	rate := snap.Rate("orders", groupName, 0)
	require.Equal(t, rates.Rate{Lag: rates.Lag{Reason: "NOT_OBSERVED"}}, rate)
}

func (h *history) observe(t *rapid.T) {
	step := time.Duration(rapid.IntRange(-2, 20).Draw(t, "seconds")) * time.Second
	h.server.now = h.server.now.Add(step)
	h.rounds++
	shard := h.server.shard(rapid.Bool().Draw(t, "tail"))
	rate := h.book.Add(roundOf(h.rounds, shard)).Rate("orders", groupName, 0)
	h.check(t, rate, step)
	h.added, h.delivered, h.lost = 0, h.server.group.delivered, h.server.group.lost
	h.skipped, h.dropped, h.undone = 0, false, false
}

func (h *history) check(t *rapid.T, rate rates.Rate, step time.Duration) {
	if rate.ProducedPerSecond != nil {
		require.Positive(t, step)
		produced := *rate.ProducedPerSecond * step.Seconds()
		require.LessOrEqual(t, produced, float64(h.added)+1e-6)
		if !h.dropped { // a new key that has outgrown the old one and lost entries looks like it
			require.InDelta(t, float64(h.added), produced, 1e-6)
		}
	}
	if rate.ConsumedPerSecond != nil {
		consumed := *rate.ConsumedPerSecond * step.Seconds()
		delivered := float64(h.server.group.delivered - h.delivered)
		lost := float64(h.server.group.lost - h.lost)
		if !h.dropped && !h.undone { // what was read, undone and read again counts once
			require.GreaterOrEqual(t, consumed, delivered-1e-6)
		}
		require.LessOrEqual(t, consumed, delivered+lost+float64(h.skipped)+1e-6, "what went away unread, or was passed by hand before a read, may count")
		require.False(t, h.skipped > 0 && delivered == 0 && consumed > 0, "nobody has read")
	}
	unread := int64(len(h.server.unread()))
	if rate.Lag.Known() {
		require.GreaterOrEqual(t, *rate.Lag.Value, int64(0))
		require.LessOrEqual(t, *rate.Lag.Value, int64(len(h.server.entries)))
		require.Equal(t, unread == 0, *rate.Lag.Value == 0)
	}
	if rate.TrimmedUnread != nil {
		require.GreaterOrEqual(t, *rate.TrimmedUnread, int64(0))
		require.Equal(t, *rate.TrimmedUnread > 0, rate.TrimmedUnreadAlarm)
	}
	if rate.TimeToDrainSeconds != nil {
		require.GreaterOrEqual(t, *rate.TimeToDrainSeconds, 0.0)
	}
}
