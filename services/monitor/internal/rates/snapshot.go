package rates

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Snapshot is what follows from a round and those before it. It does not change, and is for
// any number of readers; the zero value knows nothing.
type Snapshot struct {
	// Round and At are those of the round.
	Round int64
	At    time.Time

	streams map[string]*streamRates
	columns []*column
	window  time.Duration // how far the history reaches back
}

// streamRates holds the rates of a stream by shard, shardRates those of a shard by group.
type (
	streamRates struct{ shards []shardRates }
	shardRates  struct {
		produced *float64
		groups   map[string]Rate
	}
)

// all returns the shards of a stream, none of none.
func (s *streamRates) all() []shardRates {
	if s == nil {
		return nil
	}
	return s.shards
}

// Point is one round of the history. The rates are nil where they were not known; they are
// right to 0.4 %.
type Point struct {
	At                 time.Time
	Produced, Consumed *float64
}

// Sum is one round of the history of a group, summed up over its shards. A sum is nil where a part
// of it was not known; those that are known are right to 0.4 %.
type Sum struct {
	At                      time.Time
	Produced, Consumed, Lag *float64
}

// Rate returns what is known of a group on a shard. One that was not observed has
// LagNotObserved.
func (s Snapshot) Rate(stream, group string, shard int) Rate {
	rates := at(s.streams[stream].all(), shard)
	if rate, found := rates.groups[group]; found {
		return rate
	}
	return Rate{ProducedPerSecond: rates.produced, Lag: Lag{Reason: protocol.LagNotObserved}}
}

// Produced returns how many entries are added to a shard in a second, nil where it is not known.
func (s Snapshot) Produced(stream string, shard int) *float64 {
	return at(s.streams[stream].all(), shard).produced
}

// History returns the rates of a group on a shard, the oldest first.
func (s Snapshot) History(stream, group string, shard int) []Point {
	history := make([]Point, len(s.columns))
	for i, column := range s.columns {
		history[i].At = column.at
		history[i].Produced, history[i].Consumed = column.strips[stream].rates(group, shard)
	}
	return history
}

// GroupHistory returns the sums over the shards of a group, the oldest first. One that is not known
// has no values.
func (s Snapshot) GroupHistory(stream, group string) []Sum {
	history := make([]Sum, len(s.columns))
	for i, column := range s.columns {
		history[i] = column.strips[stream].sum(group)
		history[i].At = column.at
	}
	return history
}

// HistoryBytes is about how much memory the history takes.
func (s Snapshot) HistoryBytes() int {
	const perStrip = 128 // its place in the map, and what it is of
	bytes := 0
	for _, column := range s.columns {
		for _, strip := range column.strips {
			bytes += perStrip + 2*cap(strip.values) + 2*cap(strip.sums)
		}
	}
	return bytes
}

// plus adds two rates, nil where one of them is.
func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}
