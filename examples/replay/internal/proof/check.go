package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
)

// named is how many faults of a kind are named; the others are only counted.
const named = 5

// Replay is what is known of a replay beside its ledgers.
type Replay struct {
	// Records is how many should have been published; 0 takes those that the publishers
	// wrote of.
	Records int64
	// Resharded tells that the shard count was changed meanwhile.
	Resharded bool
}

// Check returns what the ledgers of one replay show.
func Check(files []ledger.File, replay Replay) *Report {
	e := collect(files)
	r := &Report{
		Records: max(replay.Records, int64(len(e.publications))), Resharded: replay.Resharded,
		Uncertain: e.uncertain, Refused: e.refused, Causes: e.causes,
		Handlings: int64(len(e.handlings)), Consumers: e.consumers, Killed: e.killed, Faults: []string{},
	}
	r.checkContent(e)
	r.checkOrder(e)
	r.checkReaders(e)
	return r
}

// found counts a fault, and names it if it is among the first of its kind.
func (r *Report) found(count *int64, text string, args ...any) {
	if *count++; *count <= named {
		r.Faults = append(r.Faults, fmt.Sprintf(text, args...))
	}
}

// disorder counts a key out of order, which is a fault where the order is promised.
func (r *Report) disorder(text string, args ...any) {
	if r.Resharded {
		r.OutOfOrderKeys++
		return
	}
	r.found(&r.OutOfOrderKeys, text, args...)
}

// checkContent compares what was handled with what was published: C1, C2 and C5.
func (r *Report) checkContent(e *evidence) {
	first := map[int64]*handling{} // by record
	handled := map[int64]bool{}
	last := int64(0)
	for i := range e.handlings {
		one := &e.handlings[i]
		earlier := first[one.seq]
		if earlier == nil {
			first[one.seq] = one
			r.checkOrigin(e.publications[one.seq], one)
		} else {
			r.Duplicates.count(earlier, one)
			if !earlier.killed && one.killed {
				// What a killed process has shown to be the cause stays the cause.
				first[one.seq] = one
			}
		}
		if one.end > 0 && !handled[one.seq] {
			handled[one.seq] = true
			last = max(last, one.end)
		}
	}
	r.Handled = int64(len(handled))
	for _, seq := range slices.Sorted(maps.Keys(e.publications)) {
		switch one := e.publications[seq]; {
		case !one.acked:
			continue
		case !handled[seq]:
			r.found(&r.Lost, "record %d was published and never handled", seq)
		}
		r.Published++
	}
	if missing := r.Records - r.Published; missing > 0 {
		r.Faults = append(r.Faults, fmt.Sprintf("%d of %d records were not published", missing, r.Records))
	}
	r.measure(e.began, last)
}

// checkOrigin compares a handled record with its publication.
func (r *Report) checkOrigin(from *publication, one *handling) {
	switch {
	case from == nil || !from.acked && !from.maybe:
		r.found(&r.Strangers, "record %d on shard %d (%s) was handled and never published", one.seq, one.shard, one.id)
	case from.key != one.key || from.sum != one.sum:
		r.found(&r.Altered, "record %d on shard %d (%s) is not what was published", one.seq, one.shard, one.id)
	}
}

// count counts the handling of a record that was handled before.
func (d *Duplicates) count(earlier, again *handling) {
	d.Total++
	switch {
	case earlier.id != again.id || earlier.shard != again.shard:
		d.Republished++
	case earlier.killed:
		d.Killed++
	default:
		d.Other++
	}
}

// checkOrder goes through the first handling of every record in the order of time: within
// a key of a publisher the numbers have to rise (C6).
func (r *Report) checkOrder(e *evidence) {
	type source struct{ publisher, key string }
	seen := map[int64]bool{}
	latest := map[source]*handling{}
	broken := map[source]bool{}
	keys := map[string]bool{}
	for i := range e.handlings {
		one := &e.handlings[i]
		if seen[one.seq] {
			continue
		}
		seen[one.seq] = true
		from := source{key: one.key}
		if published := e.publications[one.seq]; published != nil {
			from.publisher = published.publisher
		}
		keys[one.key] = true
		before := latest[from]
		if before != nil && before.seq > one.seq {
			if !broken[from] {
				broken[from] = true
				r.disorder("key %s: record %d (shard %d, %s, by %s) was handled after record %d (%s, by %s)",
					one.key, one.seq, one.shard, one.id, one.member, before.seq, before.id, before.member)
			}
			continue
		}
		latest[from] = one
	}
	r.Keys = int64(len(keys))
}

// tenure is the time during which one owner handled records of a shard.
type tenure struct {
	incarnation, member string
	shard               int
	fence               int64
	first, last         int64
}

// checkReaders compares the tenures of each shard, in the order of time (C4).
func (r *Report) checkReaders(e *evidence) {
	for _, shard := range tenures(e.handlings) {
		for i := 1; i < len(shard); i++ {
			before, after := shard[i-1], shard[i]
			if before.incarnation != after.incarnation {
				r.Moves++
			}
			if after.fence <= before.fence {
				r.found(&r.StaleTokens, "shard %d: %s came after %s, with token %d after %d",
					after.shard, after.member, before.member, after.fence, before.fence)
			}
			if after.first < before.last {
				r.found(&r.DoubleReaders, "shard %d: %s began %d ns before %s ended",
					after.shard, after.member, before.last-after.first, before.member)
			}
			// A tenure that ends late is compared with all that follow.
			shard[i].last = max(after.last, before.last)
		}
	}
}

// tenures returns for each shard its tenures in the order in which they began.
func tenures(handlings []handling) map[int][]tenure {
	type owner struct {
		shard       int
		fence       int64
		incarnation string
	}
	found := map[owner]int{}
	shards := map[int][]tenure{}
	for i := range handlings {
		one := &handlings[i]
		who := owner{one.shard, one.fence, one.incarnation}
		at, known := found[who]
		if !known {
			at = len(shards[one.shard])
			found[who] = at
			shards[one.shard] = append(shards[one.shard], tenure{
				incarnation: one.incarnation, member: one.member, shard: one.shard, fence: one.fence, first: one.start,
			})
		}
		tenure := &shards[one.shard][at]
		tenure.last = max(tenure.last, one.start, one.end)
	}
	for _, shard := range shards {
		slices.SortStableFunc(shard, func(a, b tenure) int { return cmp.Compare(a.first, b.first) })
	}
	return shards
}
