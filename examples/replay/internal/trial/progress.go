package trial

import "github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"

// Progress is how far a replay is.
type Progress struct {
	// Records are to be published; Published are acknowledged, Handled are handled to the
	// end, each counted once. Handlings counts the beginnings of handlings.
	Records, Published, Handled, Handlings int64
	// Consumers is how many are at work.
	Consumers int
}

// meter reads the progress from the ledgers while they grow.
type meter struct {
	tail     *ledger.Tail
	progress Progress
	handled  map[int64]struct{}
	// recent counts the handlings in each ledger since the last call of busiest.
	recent map[string]int64
}

func newMeter(dir string, records int64) *meter {
	return &meter{
		tail: ledger.NewTail(dir), progress: Progress{Records: records},
		handled: map[int64]struct{}{}, recent: map[string]int64{},
	}
}

// read takes in what is new.
func (m *meter) read() error {
	return m.tail.Next(func(path string, entry ledger.Entry) {
		switch entry.Kind {
		case ledger.Acked:
			m.progress.Published++
		case ledger.Start:
			m.progress.Handlings++
		case ledger.End:
			m.recent[path]++
			m.handled[entry.Seq] = struct{}{}
			m.progress.Handled = int64(len(m.handled))
		case ledger.Open, ledger.Close, ledger.Intent, ledger.Unknown, ledger.Refused:
		}
	})
}

// busiest returns which of the ledgers has had the most handlings since the last call.
func (m *meter) busiest(paths []string) (at int) {
	for i, path := range paths {
		if m.recent[path] > m.recent[paths[at]] {
			at = i
		}
	}
	clear(m.recent)
	return at
}
