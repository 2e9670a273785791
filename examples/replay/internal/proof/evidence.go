package proof

import (
	"cmp"
	"slices"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
)

// publication is what the publishers wrote about one record.
type publication struct {
	seq       int64
	key, sum  string
	publisher string // its incarnation
	acked     bool
	// maybe tells that Redis may have it without an acknowledgement.
	maybe bool
}

// handling is one handling of a record.
type handling struct {
	seq         int64
	key, sum    string
	shard       int
	id          string
	fence       int64
	incarnation string
	member      string
	killed      bool // the process did not end in good order
	start       int64
	end         int64 // 0 when it did not end
}

// evidence is what the ledgers say, put together.
type evidence struct {
	publications map[int64]*publication
	uncertain    int64
	refused      int64
	causes       map[string]int64 // of both; nil when there are none
	// handlings are in the order of their starts.
	handlings []handling
	consumers int64
	killed    int64
	// began is when the first publication was begun; 0 when there was none.
	began int64
}

func collect(files []ledger.File) *evidence {
	e := &evidence{publications: map[int64]*publication{}}
	for i := range files {
		if files[i].Opening.Role == ledger.Publisher {
			e.published(&files[i])
		} else {
			e.consumed(&files[i])
		}
	}
	slices.SortStableFunc(e.handlings, func(a, b handling) int { return cmp.Compare(a.start, b.start) })
	return e
}

func (e *evidence) published(file *ledger.File) {
	for i := range file.Entries {
		entry := &file.Entries[i]
		one := e.publications[entry.Seq]
		if one == nil {
			one = &publication{seq: entry.Seq, publisher: file.Opening.Incarnation}
			e.publications[entry.Seq] = one
		}
		switch entry.Kind {
		case ledger.Intent:
			one.key, one.sum = entry.Key, entry.Sum
			if e.began == 0 || entry.Mono < e.began {
				e.began = entry.Mono
			}
			// Until the outcome is known, and for ever when the process is killed before.
			one.maybe = true
		case ledger.Acked:
			one.acked = true
		case ledger.Unknown:
			e.uncertain++
			e.because(entry.Cause)
		case ledger.Refused:
			e.refused++
			e.because(entry.Cause)
			one.maybe = false
		case ledger.Open, ledger.Close, ledger.Start, ledger.End:
		}
	}
}

// because counts why a publication failed, where that is known.
func (e *evidence) because(cause string) {
	if cause == "" {
		return
	}
	if e.causes == nil {
		e.causes = map[string]int64{}
	}
	e.causes[cause]++
}

func (e *evidence) consumed(file *ledger.File) {
	e.consumers++
	killed := file.Closing == nil
	if killed {
		e.killed++
	}
	type place struct {
		shard int
		id    string
	}
	began := map[place]int{} // the last handling of a record by this process
	for i := range file.Entries {
		entry := &file.Entries[i]
		at := place{entry.Shard, entry.ID}
		switch entry.Kind {
		case ledger.Start:
			began[at] = len(e.handlings)
			e.handlings = append(e.handlings, handling{
				seq: entry.Seq, key: entry.Key, sum: entry.Sum, shard: entry.Shard, id: entry.ID, fence: entry.Fence,
				incarnation: file.Opening.Incarnation, member: file.Opening.Member, killed: killed, start: entry.Mono,
			})
		case ledger.End:
			if index, found := began[at]; found {
				e.handlings[index].end = entry.Mono
			}
		case ledger.Open, ledger.Close, ledger.Intent, ledger.Acked, ledger.Unknown, ledger.Refused:
		}
	}
}
