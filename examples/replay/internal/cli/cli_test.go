package cli_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/cli"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
)

// run carries a command line out and returns the exit code and what was printed.
func run(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(t.Context(), args, cli.Process{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestHelpShowsWhatCanBeDone(t *testing.T) {
	t.Parallel()
	code, out, _ := run(t, "--help")
	require.Zero(t, code)
	for _, word := range []string{"run", "publish", "consume", "check", "Exit codes"} {
		require.Contains(t, out, word)
	}
	for _, command := range []string{"run", "publish", "consume", "check"} {
		code, out, _ = run(t, command, "--help")
		require.Zero(t, code)
		require.Contains(t, out, "Flags:")
	}
}

func TestAWrongCommandLineIsRefusedBeforeAnythingIsDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, args := range map[string][]string{
		"either --file or --generate":  {"run"},
		"either --file or --generate ": {"run", "--file", "x", "--generate", "1"},
		"--kill needs --processes":     {"run", "--generate", "1", "--kill", "1"},
		"--consumers and --shards":     {"run", "--generate", "1", "--consumers", "0"},
		"--concurrency":                {"run", "--generate", "1", "--workers", "0"},
		"--publish-batch":              {"run", "--generate", "1", "--publish-batch", "0"},
		"unknown flag":                 {"run", "--genrate", "1"},
		"takes no argument":            {"check", "here"},
		"--stream is missing":          {"consume"},
		"--ledgers names no directory": {"consume", "--stream", "s"},
		"none of auto, ndjson":         {"run", "--file", "x", "--format", "xml"},
		"--redis":                      {"publish", "--stream", "s", "--generate", "1", "--ledgers", dir, "--redis", "x"},
		"--coordinator":                {"publish", "--stream", "s", "--generate", "1", "--ledgers", dir, "--coordinator", "x"},
	} {
		code, out, problems := run(t, args...)
		require.Equal(t, 2, code, "%v: %s", args, problems)
		require.Contains(t, problems, strings.TrimSpace(text), "%v", args)
		require.Contains(t, problems, "See replay --help")
		require.Empty(t, out)
	}
}

func TestADirectoryWithLedgersIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := ledger.Create(filepath.Join(dir, "x"+ledger.Extension), ledger.Consumer, "x")
	require.NoError(t, err)
	code, _, problems := run(t, "run", "--generate", "1", "--ledgers", dir)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "another replay")
}

func TestCheckPrintsTheProofAndExitsByIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	publisher, err := ledger.Create(filepath.Join(dir, "p"+ledger.Extension), ledger.Publisher, "p")
	require.NoError(t, err)
	consumer, err := ledger.Create(filepath.Join(dir, "c"+ledger.Extension), ledger.Consumer, "c")
	require.NoError(t, err)
	require.NoError(t, publisher.Append(ledger.Entry{Kind: ledger.Intent, Seq: 1}, ledger.Entry{Kind: ledger.Acked, Seq: 1}))
	require.NoError(t, publisher.Close(nil))

	code, out, problems := run(t, "check", "--ledgers", dir)
	require.Equal(t, 1, code)
	require.Contains(t, out, "! record 1 was published and never handled\nThe proof does not hold.\n")
	require.Contains(t, problems, "the proof does not hold")

	require.NoError(t, consumer.Append(ledger.Entry{Kind: ledger.Start, Seq: 1}, ledger.Entry{Kind: ledger.End, Seq: 1}))
	require.NoError(t, consumer.Close(nil))
	code, out, problems = run(t, "check", "--ledgers", dir)
	require.Zero(t, code, problems)
	require.Contains(t, out, "The proof holds.\n")

	code, out, _ = run(t, "check", "--ledgers", dir, "--json")
	require.Zero(t, code)
	var report map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, true, report["holds"])
	require.InDelta(t, 1, report["handled"], 0)

	code, _, _ = run(t, "check", "--ledgers", dir, "--records", "2")
	require.Equal(t, 1, code, "a record was not published")
	code, _, problems = run(t, "check", "--ledgers", filepath.Join(dir, "nowhere"))
	require.Equal(t, 1, code)
	require.Contains(t, problems, "list ledgers")
}
