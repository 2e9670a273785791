package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// entry is a line of a ledger, as far as the tests need it. They read the ledgers on their
// own, so that they also check what replay makes of them. Times are those of the calendar,
// as the tests have no other clock in common with the processes.
type entry struct {
	Kind  string `json:"kind"`
	Wall  int64  `json:"wall"`
	Seq   int64  `json:"seq"`
	Key   string `json:"key"`
	Shard int    `json:"shard"`
	ID    string `json:"id"`
	Fence int64  `json:"fence"`

	// Version is that of the routing of an acknowledged record, Cause why it was refused.
	Version int64  `json:"version"`
	Cause   string `json:"cause"`
}

func (e *entry) at() time.Time { return time.Unix(0, e.Wall) }

// ledger returns the entries of one process so far.
func (s *suite) ledger(name string) []entry {
	s.t.Helper()
	path := filepath.Join(s.ledgers, name+".ledger")
	book := s.books[path]
	if book == nil {
		book = &growing{}
		s.books[path] = book
	}
	book.read(s.t, path)
	return book.entries
}

// growing is a ledger that is still written to, as far as it has been read.
type growing struct {
	used    int64
	entries []entry
}

func (g *growing) read(t *testing.T, path string) {
	t.Helper()
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return
	}
	require.NoError(t, err)
	defer file.Close()
	_, err = file.Seek(g.used, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line of a killed process may be torn
	g.used += int64(len(text))
	for line := range bytes.Lines(text) {
		var one entry
		require.NoError(t, json.Unmarshal(line, &one))
		g.entries = append(g.entries, one)
	}
}

// of returns the entries of one kind.
func of(kind string, entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.Kind != kind })
}

// allLedgers returns the entries of all processes so far, by their names.
func (s *suite) allLedgers() map[string][]entry {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.ledgers, "*.ledger"))
	require.NoError(s.t, err)
	all := map[string][]entry{}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".ledger")
		all[name] = s.ledger(name)
	}
	return all
}

// handled returns how many handlings the named consumers have ended.
func (s *suite) handled(names ...string) int {
	s.t.Helper()
	count := 0
	for _, name := range names {
		for _, one := range s.ledger(name) {
			if one.Kind == "end" {
				count++
			}
		}
	}
	return count
}

// proven is what the ledgers say without replay's own checker.
type proven struct {
	acked, handled, handlings, lost, keysOutOfOrder int
}

// prove goes through all ledgers: which acknowledged records nobody handled, and for which
// keys the first handlings are not in the order of publication.
func prove(all map[string][]entry) proven {
	acked, ended, began := map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	var starts []entry
	for _, entries := range all {
		for _, one := range entries {
			switch one.Kind {
			case "ack":
				acked[one.Seq] = true
			case "start":
				starts = append(starts, one)
			case "end":
				ended[one.Seq] = true
			}
		}
	}
	p := proven{acked: len(acked), handled: len(ended), handlings: len(starts)}
	for seq := range acked {
		if !ended[seq] {
			p.lost++
		}
	}
	slices.SortStableFunc(starts, func(a, b entry) int { return a.at().Compare(b.at()) })
	last, broken := map[string]int64{}, map[string]bool{}
	for _, one := range starts {
		if began[one.Seq] {
			continue
		}
		began[one.Seq] = true
		broken[one.Key] = broken[one.Key] || one.Seq < last[one.Key]
		last[one.Key] = one.Seq
	}
	for _, is := range broken {
		if is {
			p.keysOutOfOrder++
		}
	}
	return p
}

// report is what replay prints, as far as the tests need it.
type report struct {
	Holds                                                       bool
	Records, Published, Uncertain, Handled, Handlings, Lost     int
	Keys, OutOfOrderKeys, DoubleReaders, StaleTokens, Strangers int
	Altered, Consumers, Killed, Moves, Refused                  int
	Causes                                                      map[string]int
	Duplicates                                                  struct{ Total, Republished, Killed, Other int }
	Seconds, RecordsPerSecond                                   float64
	Faults                                                      []string
}

// check has replay check the ledgers of the suite.
func (s *suite) check(records int) report {
	s.t.Helper()
	p := start(s.t, "check", "replay", "check", "--ledgers", s.ledgers, "--json")
	<-p.done
	r := parse(s.t, p)
	own := prove(s.allLedgers())
	require.Equal(s.t, proven{acked: records, handled: records, handlings: r.Handlings}, own,
		"the ledgers as the test reads them; replay says %+v", r)
	require.True(s.t, r.Holds, "%+v", r)
	require.Zero(s.t, p.exitCode())
	return r
}

// parse reads the report that a process has printed.
func parse(t *testing.T, p *process) report {
	t.Helper()
	var r report
	require.NoError(t, json.Unmarshal(p.out.bytes(), &r), "%s wrote:\n%s", p.name, p.all.tail())
	return r
}
