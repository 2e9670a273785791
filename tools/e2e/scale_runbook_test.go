package e2e_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// TestReshardWithoutDuplicates does what the page of that name in the operations runbook
// says, in the same order, with the commands that stand there.
func TestReshardWithoutDuplicates(t *testing.T) {
	t.Parallel()
	page := runbookPage(t, "Reshard without duplicates")
	commands := linesWith(page, "rscctl ")
	require.Len(t, commands, 4, "the page's commands")
	s := startScaling(t, "--coordination-routing-lease", shortRouting.String())
	s.createStream()
	s.read(3, "--work", "300us", "--workers", "2")
	for _, name := range []string{"p1", "p2"} {
		s.load(name, 1_000)
	}
	s.eventually(func() bool { return s.handled(s.names...) > 2_000 }, "there is load")

	t.Log(s.operate(commands[0])) // the dry run
	for name := range s.publishers {
		s.order(name, "pause")
	}
	paused := time.Now()
	s.eventually(func() bool { return s.drained(shards) }, "everything is handled")
	before := map[string]int{}
	s.eventually(func() bool { // a publisher stands still a moment before all it has published is in its ledger
		total := 0
		for name := range s.publishers {
			before[name] = len(s.acks(name))
			total += before[name]
		}
		return total == s.entries(s.rdb)
	}, "all that was written is in the ledgers")
	t.Logf("drained after %s", time.Since(paused).Round(time.Millisecond))
	t.Log(s.operate(commands[1])) // the scale, to its end
	require.Equal(t, 3, s.shardCount())
	for name := range s.publishers {
		require.Len(t, s.acks(name), before[name], "%s stood still", name)
		s.order(name, "refresh")
	}
	for name := range s.publishers {
		s.order(name, "resume")
	}
	resumed := time.Now()
	t.Logf("producers stood still for %s", resumed.Sub(paused).Round(time.Millisecond))
	for _, command := range commands[2:] {
		t.Log(s.operate(command))
	}
	s.eventually(func() bool {
		for name := range s.publishers {
			if len(s.acks(name)) < before[name]+1_000 {
				return false
			}
		}
		return true
	}, "the producers write again")
	for name := range s.publishers {
		for _, one := range s.acks(name)[before[name]:] {
			require.Less(t, one.Shard, 3)
		}
	}
	r := s.stop() // the order of keys is promised here
	require.Zero(t, r.Duplicates.Total)
	require.Zero(t, r.OutOfOrderKeys)
	require.Zero(t, r.Uncertain)
	require.Equal(t, r.Refused, r.Causes["PAUSED"], "%v", r.Causes)
}

// order gives a publisher an order and waits until it is done.
func (s *scaling) order(name, word string) {
	s.t.Helper()
	p := s.publishers[name]
	before := strings.Count(string(p.out.bytes()), "\n")
	input, open := p.input.(io.Writer)
	require.True(s.t, open)
	_, err := io.WriteString(input, word+"\n")
	require.NoError(s.t, err)
	var answers []string
	s.eventually(func() bool {
		said := string(p.out.bytes())
		answers = strings.Split(strings.TrimSpace(said), "\n")
		return strings.Count(said, "\n") > before
	}, name+" answers "+word)
	require.Equal(s.t, word, answers[len(answers)-1])
}

// operate carries a command of the runbook out, as an operator would, and returns it with
// what it printed.
func (s *scaling) operate(command string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+binaries+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"RSC_COORDINATOR="+s.url(), "STREAM="+stream, "GROUP="+group, "USER=e2e")
	output, err := cmd.CombinedOutput()
	require.NoError(s.t, err, "%s: %s", command, output)
	return fmt.Sprintf("%s\n%s", command, output)
}

// drained tells what step 2 of the runbook asks: every group of every shard has neither a
// lag nor anything pending.
func (s *scaling) drained(count int) bool {
	s.t.Helper()
	for shard := range count {
		groups, err := redisx.Groups(s.t.Context(), s.rdb, routing.StreamKey(stream, shard))
		require.NoError(s.t, err)
		for _, one := range groups {
			if one.Pending != 0 || !one.Lag.IsZero() {
				return false
			}
		}
	}
	return true
}

func (s *scaling) shardCount() int {
	s.t.Helper()
	routed, err := s.admin.Routing(s.t.Context(), stream, group)
	require.NoError(s.t, err)
	return routed.ShardCount
}

// runbookPage returns a page of the operations runbook.
func runbookPage(t *testing.T, title string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations-runbook.md"))
	require.NoError(t, err)
	_, page, found := strings.Cut(string(text), "\n## "+title+"\n")
	require.True(t, found, "the runbook has the page %q", title)
	page, _, _ = strings.Cut(page, "\n## ")
	return page
}

// linesWith returns the lines of a page that begin like this.
func linesWith(page, prefix string) []string {
	var lines []string
	for line := range strings.Lines(page) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) {
			lines = append(lines, line)
		}
	}
	return lines
}
