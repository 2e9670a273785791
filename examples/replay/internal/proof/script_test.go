package proof_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/proof"
)

// check runs the checker on ledgers that are written as a script. Its lines are
//
//	<time> <process> intent|ack|unknown|refused <record><key> [<cause>]
//	<time> <process> start|end <record><key> <shard> <id> <token>
//	<time> <process> close
//
// The names of publishers begin with p.
func check(t *testing.T, script string, records int64) *proof.Report {
	t.Helper()
	return proof.Check(files(t, script), proof.Replay{Records: records})
}

// files returns the ledgers that a script is about.
func files(t *testing.T, script string) []ledger.File {
	t.Helper()
	var order []string
	files := map[string]*ledger.File{}
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name := words[1]
		if files[name] == nil {
			order = append(order, name)
			role := ledger.Consumer
			if name[0] == 'p' {
				role = ledger.Publisher
			}
			files[name] = &ledger.File{Opening: ledger.Entry{Kind: ledger.Open, Role: role, Incarnation: name, Member: name}}
		}
		entry := parse(t, words)
		if entry.Kind == ledger.Close {
			files[name].Closing = &entry
			continue
		}
		files[name].Entries = append(files[name].Entries, entry)
	}
	all := make([]ledger.File, 0, len(order))
	for _, name := range order {
		all = append(all, *files[name])
	}
	return all
}

func parse(t *testing.T, words []string) ledger.Entry {
	t.Helper()
	entry := ledger.Entry{Kind: ledger.Kind(words[2]), Mono: number(t, words[0])}
	if len(words) > 3 {
		digits := strings.TrimRight(words[3], "abcdefghijklmnopqrstuvwxyz")
		entry.Seq = number(t, digits)
		entry.Key = words[3][len(digits):]
		entry.Sum = fmt.Sprintf("sum of %d", entry.Seq)
	}
	if len(words) == 5 {
		entry.Cause = words[4]
	}
	if len(words) > 5 {
		entry.Shard, entry.ID, entry.Fence = int(number(t, words[4])), words[5], number(t, words[6])
	}
	return entry
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}
