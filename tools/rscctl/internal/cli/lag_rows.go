package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// The orders of lag.
const (
	sortIndex = "index"
	sortLag   = "lag"
)

// totalWord begins the line of the sums.
const totalWord = "TOTAL"

// lagLine is one line of lag: a shard, a group, or the sums. Nil is what nobody knows, and is
// never shown as a number (monitoring, Rates).
type lagLine struct {
	place                          []string // the first columns
	lag, unreadMs, pending         *int64
	producedPerSec, consumedPerSec *float64
	why                            string // there is no lag, or what is wrong
}

// cells are the columns behind the first ones.
func (l lagLine) cells() []string {
	return append(slices.Clone(l.place), show.Count(l.lag), age(l.unreadMs), rate(l.producedPerSec), rate(l.consumedPerSec),
		show.Count(l.pending), orElse(l.why, show.None))
}

func shardHeads() []string {
	return []string{"SHARD", "OWNER", "LAG", "UNREAD AGE", "PRODUCED/S", "CONSUMED/S", "PENDING", "WHY UNKNOWN"}
}

func groupHeads() []string {
	return []string{"STREAM", "GROUP", "SHARDS", "LAG", "UNREAD AGE", "PRODUCED/S", "CONSUMED/S", "PENDING", "WHY UNKNOWN"}
}

// shardLines are the shards of a group in an order, with the sums behind them.
func shardLines(found *protocol.StreamShardOffsetsResponse, order string) []lagLine {
	lines := make([]lagLine, 0, len(found.Shards)+1)
	for _, shard := range found.Shards {
		line := lagLine{
			place: []string{strconv.Itoa(shard.Shard.ShardIndex), show.Names(shard.OwnerMemberIDs)},
			lag:   shard.Lag, unreadMs: shard.OldestUnreadAgeMs, pending: &shard.PendingCount,
			producedPerSec: shard.ProducedPerSecond, consumedPerSec: shard.ConsumedPerSecond, why: shardTrouble(shard),
		}
		if !shard.LagKnown {
			line.lag = nil
		}
		if shard.Problem != nil {
			line.pending = nil
		}
		lines = append(lines, line)
	}
	if order == sortLag {
		mostBehindFirst(lines)
	}
	total := lagLine{
		place: []string{totalWord, ""},
		lag:   found.TotalLag, unreadMs: found.OldestUnreadAgeMs, pending: &found.TotalPendingCount,
		producedPerSec: found.ProducedPerSecond, consumedPerSec: found.ConsumedPerSecond, why: partsOf(found.GroupSignals),
	}
	if found.Partial {
		total.pending = nil
	}
	return append(lines, total)
}

// shardTrouble tells why there is no lag, and what else makes numbers doubtful.
func shardTrouble(shard protocol.StreamShardOffset) string {
	var words []string
	if shard.Problem != nil {
		words = append(words, *shard.Problem)
	} else if shard.LagReason != nil && !shard.LagKnown {
		words = append(words, string(*shard.LagReason))
	}
	if shard.TrimmedUnreadAlarm {
		words = append(words, protocol.ProblemTrimmedUnread)
	}
	if shard.GroupRegressed {
		words = append(words, protocol.ProblemRegressed)
	}
	return strings.Join(words, ", ")
}

// partsOf tells of how many parts a sum is known.
func partsOf(sums protocol.GroupSignals) string {
	var words []string
	if sums.KnownParts != sums.AllParts || sums.Partial {
		words = append(words, strconv.Itoa(sums.KnownParts)+" of "+strconv.Itoa(sums.AllParts)+" known")
	}
	if sums.Problem != nil {
		words = append(words, *sums.Problem)
	}
	return strings.Join(words, ", ")
}

// groupLines are groups in an order, with the sums behind them.
func groupLines(rows []protocol.GrafanaGroupRow, order string) []lagLine {
	lines := make([]lagLine, 0, len(rows)+1)
	total := lagLine{
		place: []string{totalWord, "", ""},
		lag:   new(int64), pending: new(int64), producedPerSec: new(float64), consumedPerSec: new(float64),
	}
	known, oldest := 0, new(int64)
	for _, row := range rows {
		line := lagLine{
			place: []string{row.StreamPrefix, row.ConsumerGroup, strconv.Itoa(row.ShardCount)},
			lag:   row.TotalLag, unreadMs: row.OldestUnreadAgeMs, pending: &row.TotalPendingCount,
			producedPerSec: row.ProducedPerSecond, consumedPerSec: row.ConsumedPerSecond, why: partsOf(row.GroupSignals),
		}
		if row.Partial {
			line.pending = nil
		}
		if line.lag != nil {
			known++
			oldest = later(oldest, line)
		}
		total.lag, total.pending = sum(total.lag, line.lag), sum(total.pending, line.pending)
		total.producedPerSec = sum(total.producedPerSec, line.producedPerSec)
		total.consumedPerSec = sum(total.consumedPerSec, line.consumedPerSec)
		lines = append(lines, line)
	}
	if order == sortLag {
		mostBehindFirst(lines)
	}
	if known < len(rows) {
		total.why = strconv.Itoa(known) + " of " + strconv.Itoa(len(rows)) + " groups known"
	} else if *oldest > 0 {
		total.unreadMs = oldest
	}
	return append(lines, total)
}

// later is the older one of two ages.
func later(oldest *int64, line lagLine) *int64 {
	if line.unreadMs != nil && *line.unreadMs > *oldest {
		return line.unreadMs
	}
	return oldest
}

// sum adds two numbers; it is not known where one of them is not.
func sum[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// mostBehindFirst sorts by lag: what nobody knows comes first, as it wants to be looked at.
func mostBehindFirst(lines []lagLine) {
	slices.SortStableFunc(lines, func(a, b lagLine) int {
		switch {
		case a.lag == nil || b.lag == nil:
			return cmp.Compare(boolAsInt(b.lag == nil), boolAsInt(a.lag == nil))
		default:
			return cmp.Compare(*b.lag, *a.lag)
		}
	})
}

func boolAsInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// age tells milliseconds for people.
func age(ms *int64) string {
	if ms == nil {
		return show.None
	}
	lasts := time.Duration(*ms) * time.Millisecond
	if lasts < time.Second {
		return lasts.String()
	}
	return lasts.Round(time.Second).String()
}

// rate tells a rate with one digit behind the point.
func rate(perSecond *float64) string {
	if perSecond == nil {
		return show.None
	}
	return strconv.FormatFloat(*perSecond, 'f', 1, 64)
}
