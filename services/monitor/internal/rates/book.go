package rates

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// DefaultRing is how far the history reaches back.
const DefaultRing = 15 * time.Minute

// Book keeps the last observation of every shard and the history of the rates. It is for one
// goroutine; what it hands out is for all.
type Book struct {
	keep    time.Duration
	last    map[string][]seen
	current map[string]*streamRates
	ring    ring
}

// seen is the last observation of a shard that could be read. Without valid there
// was none.
type seen struct {
	shard facts.Shard
	valid bool
	// gap tells that a round since then could not read the shard.
	gap bool
}

// NewBook returns an empty book whose history reaches back for ring, DefaultRing where that
// is not above 0. Observations that are further apart give no rate.
func NewBook(ring time.Duration) *Book {
	if ring <= 0 {
		ring = DefaultRing
	}
	book := &Book{keep: ring}
	book.ring.keep = ring
	return book
}

// Add takes the next round and returns what follows from it and those before it.
func (b *Book) Add(round facts.Round) Snapshot {
	last := make(map[string][]seen, len(round.Streams))
	current := make(map[string]*streamRates, len(round.Streams))
	for i := range round.Streams {
		stream := &round.Streams[i]
		present := stream.Shards[:presentOf(stream)]
		shards := make([]seen, len(present))
		rates := &streamRates{shards: make([]shardRates, len(present))}
		for j := range present {
			before := at(b.last[stream.Prefix], j)
			rates.shards[j] = b.rate(before, &present[j], at(b.current[stream.Prefix].all(), j))
			shards[j] = before.next(&present[j])
		}
		last[stream.Prefix], current[stream.Prefix] = shards, rates
	}
	b.last, b.current = last, current
	b.ring.add(round.At, current)
	return Snapshot{Round: round.Number, At: round.At, streams: current, columns: b.ring.columns, window: b.keep}
}

// presentOf returns how many shards there are, without those at the end that are removed and
// gone: what is not there any more leaves no sum unknown.
func presentOf(stream *facts.Stream) int {
	n := len(stream.Shards)
	for n > max(0, stream.ShardCount) && goneFor(stream.Shards[n-1].Problem) {
		n--
	}
	return n
}

// goneFor tells whether a problem means that the stream is not there.
func goneFor(problem facts.Problem) bool {
	return problem == facts.ProblemMissing || problem == facts.ProblemWrongType
}

// at returns the element of a shard, its zero value where there is none.
func at[T any](list []T, index int) (element T) {
	if index >= 0 && index < len(list) {
		return list[index]
	}
	return element
}

// next returns what is remembered after an observation: a key that is gone, or is no stream,
// will be another one when it comes back.
func (s seen) next(shard *facts.Shard) seen {
	switch {
	case shard.Problem == "":
		return seen{shard: *shard, valid: true}
	case goneFor(shard.Problem):
		return seen{}
	default:
		s.gap = true
		return s
	}
}

// rate compares an observation of a shard with the one before. Earlier are the rates then.
func (b *Book) rate(before seen, now *facts.Shard, earlier shardRates) shardRates {
	if now.Problem != "" {
		return shardRates{}
	}
	step := step{same: before.valid && !before.gap && follows(&before.shard, now, b.keep), took: now.At.Sub(before.shard.At)}
	if step.same {
		if produced, known := producedBetween(&before.shard, now); known {
			step.produced = perSecond(produced, step.took)
		}
	}
	rates := shardRates{produced: step.produced, groups: make(map[string]Rate, len(now.Groups))}
	for name, group := range now.Groups {
		var last *sight
		if groupBefore, found := before.shard.Groups[name]; found {
			s := sightOf(&before.shard, groupBefore)
			last = &s
		}
		rates.groups[name] = step.rate(last, sightOf(now, group), earlier.groups[name].TrimmedUnread)
	}
	return rates
}
