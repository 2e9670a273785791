package rates

import (
	"maps"
	"math"
	"slices"
	"time"
)

// points is how many rounds the history holds at most, so that its size does not depend on
// how often is looked: 2 bytes for each of them, for each shard and each group on it. 4,096
// shards with 64 groups take 96 MB.
const points = 180

// ring is the history: one column for a round. A column is not changed once it is there, so
// that snapshots share them.
type ring struct {
	keep    time.Duration
	columns []*column
}

// column holds the rates of one round by stream.
type column struct {
	at     time.Time
	strips map[string]strip
}

// strip holds the rates of a stream: for each shard the produced, then the consumed ones by
// group. sums are over the shards: what was produced, then what was consumed and the lag by group.
type strip struct {
	groups []string // sorted, shared with the strip before where they are the same
	values []packed
	sums   []packed
}

// add appends a column unless the newest is too young for another. A clock that was set back
// takes those away that are newer now.
func (r *ring) add(at time.Time, streams map[string]*streamRates) {
	kept := slices.DeleteFunc(slices.Clone(r.columns), func(c *column) bool {
		return !c.at.Before(at) || at.Sub(c.at) > r.keep
	})
	spacing := r.keep / points
	if n := len(kept); n == 0 || at.Sub(kept[n-1].at) >= spacing-spacing/4 {
		next := &column{at: at, strips: make(map[string]strip, len(streams))}
		for prefix, stream := range streams {
			var before strip
			if n > 0 {
				before = kept[n-1].strips[prefix]
			}
			next.strips[prefix] = stripOf(stream, before.groups)
		}
		kept = append(kept, next)
	}
	r.columns = kept[max(0, len(kept)-points):]
}

// stripOf packs the rates of a stream.
func stripOf(stream *streamRates, before []string) strip {
	names := map[string]struct{}{}
	for _, shard := range stream.shards {
		for name := range shard.groups {
			names[name] = struct{}{}
		}
	}
	groups := slices.Sorted(maps.Keys(names))
	if slices.Equal(groups, before) {
		groups = before
	}
	values := make([]packed, 0, len(stream.shards)*(1+len(groups)))
	for _, shard := range stream.shards {
		values = append(values, pack(shard.produced))
		for _, name := range groups {
			values = append(values, pack(shard.groups[name].ConsumedPerSecond))
		}
	}
	return strip{groups: groups, values: values, sums: sumsOf(stream, groups)}
}

// sumsOf adds up the shards of a stream. A sum is unknown where a part of it is.
func sumsOf(stream *streamRates, groups []string) []packed {
	sums := make([]packed, 0, 1+2*len(groups))
	produced := new(float64)
	for _, shard := range stream.shards {
		produced = plus(produced, shard.produced)
	}
	sums = append(sums, pack(produced))
	for _, name := range groups {
		consumed, lag := new(float64), new(float64)
		for _, shard := range stream.shards {
			rate := shard.groups[name]
			consumed, lag = plus(consumed, rate.ConsumedPerSecond), plus(lag, asFloat(rate.Lag.Value))
		}
		sums = append(sums, pack(consumed), pack(lag))
	}
	return sums
}

func asFloat(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// shards is how many shards the strip has.
func (s strip) shards() int { return len(s.values) / (1 + len(s.groups)) }

// rates returns what was produced on a shard and consumed by a group, nil where it is not known.
func (s strip) rates(group string, shard int) (produced, consumed *float64) {
	if shard < 0 || shard >= s.shards() {
		return nil, nil
	}
	first := shard * (1 + len(s.groups))
	if i, found := slices.BinarySearch(s.groups, group); found {
		consumed = s.values[first+1+i].value()
	}
	return s.values[first].value(), consumed
}

// sum returns what was produced on the shards, and consumed by a group and its lag, nil where it is
// not known.
func (s strip) sum(group string) Sum {
	i, found := slices.BinarySearch(s.groups, group)
	if !found || s.shards() == 0 {
		return Sum{}
	}
	return Sum{Produced: s.sums[0].value(), Consumed: s.sums[1+2*i].value(), Lag: s.sums[2+2*i].value()}
}

// packed is the upper half of a float32: every size of number with 0.4 % of error, enough
// for a line of a few pixels.
type packed uint16

// unknown is a value that is no number.
const unknown packed = 0x7fc0

func pack(value *float64) packed {
	if value == nil {
		return unknown
	}
	bits := math.Float32bits(float32(*value))
	return packed((bits + 0x7fff + bits>>16&1) >> 16)
}

func (p packed) value() *float64 {
	if p == unknown {
		return nil
	}
	value := float64(math.Float32frombits(uint32(p) << 16))
	return &value
}
