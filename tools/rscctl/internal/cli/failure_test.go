package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const seeHelp = "  next: see rscctl --help, or --help behind the command\n"

func TestWrongCommandLinesExitWith2AndAskNothing(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"stream list":               `rscctl has no command "stream"; did you mean streams?`,
		"streams lst":               `rscctl streams has no command "lst"; did you mean list?`,
		"streams describe":          "accepts 1 arg(s), received 0",
		"streams list extra":        "unknown command",
		"streams list --colour":     "unknown flag: --colour",
		"streams list --output xml": `--output is "xml"; it is table, json or yaml`,
		"repair index --reason r --idempotency-key ''":          "--idempotency-key has 1 to 128 printable",
		"repair index --reason r --idempotency-key ü":           "--idempotency-key has 1 to 128 printable",
		"streams list --timeout 0s":                             "--timeout is 0s; it is above 0",
		"streams list --timeout soon":                           "invalid argument",
		"streams create orders":                                 "a change needs --reason",
		"streams create orders --reason ''":                     "a change needs --reason",
		"streams create a/b --reason r":                         `streamPrefix "a/b" has a character that is not allowed`,
		"streams scale orders x --reason r":                     `SHARDS is "x"`,
		"streams scale orders 1.5 --reason r":                   `SHARDS is "1.5"`,
		"streams scale --reason r -- orders -1":                 `SHARDS is "-1"`,
		"streams scale orders 3":                                "a change needs --reason",
		"streams delete orders":                                 "a change needs --reason",
		"groups add orders g --position x --reason r":           `--position is "x"; it is earliest or latest`,
		"migrations confirm-drain orders --reason r":            "--shard N names the shard",
		"migrations confirm-drain orders --shard=-1 --reason r": "--shard N names the shard",
		"migrations rollback orders":                            "a change needs --reason",
		"repair barrier orders g":                               "a change needs --reason",
		"repair barrier orders g --close --reason r":            "this needs --yes",
		"repair fence orders g m":                               "a change needs --reason",
		"repair fence orders g ü --reason r":                    "memberId",
		"repair index":                                          "a change needs --reason",
		"events orders g --last=-1":                             "--last is -1",
		"members orders g --coordinator ftp://x":                "not an absolute http or https URL",
	} {
		f := &fake{}
		got := inBubble(t.Context(), scene{}, f, line)
		require.Equal(t, 2, got.code, line)
		require.Empty(t, got.out, line)
		require.Contains(t, got.err, want, line)
		require.True(t, strings.HasPrefix(got.err, "rscctl: "), got.err)
		require.Contains(t, got.err, "next: see rscctl --help", line)
		require.Empty(t, f.asked, line)
	}
}

func TestWithoutAUserAChangeNeedsAName(t *testing.T) {
	t.Parallel()
	got := inBubble(t.Context(), scene{env: map[string]string{"USER": ""}}, &fake{}, "repair index --reason r")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "needs --requested-by")
}

func TestRefusalsNameThingCauseAndNextStep(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{"GET /streams/orders/groups/g": {refused{protocol.CodeGroupNotFound, `there is no group "g" of stream "orders"`}}})
	require.Equal(t, outcome{code: 1, err: text(`
		rscctl: cannot describe group g of stream orders: there is no group "g" of stream "orders"
		  code: GROUP_NOT_FOUND
		  request id: REQ-1
		  next: list the groups with: rscctl groups list
		`)}, rscctl(t, scene{}, url, "groups describe orders g"))
}

func TestEveryCodeHasANextStep(t *testing.T) {
	t.Parallel()
	where := place{stream: "orders", group: "g", id: "R1"}
	require.Contains(t, nextStep(protocol.CodeNotFound, place{stream: "orders", group: "g", member: "m"}), "rscctl members orders g")
	for _, one := range []struct {
		code protocol.Code
		want string
	}{
		{protocol.CodeGroupAlreadyExists, "rscctl groups describe orders g"},
		{protocol.CodeStreamAlreadyExists, "rscctl streams describe orders"},
		{protocol.CodeStreamNotFound, "rscctl streams list"},
		{protocol.CodeGroupHasActiveMembers, "--force"},
		{protocol.CodeActiveMigrationExists, "rscctl migrations watch orders"},
		{protocol.CodeMigrationNotFound, "rscctl migrations list orders"},
		{protocol.CodeRollbackNotAllowed, "rscctl streams scale orders N"},
		{protocol.CodeDrainNotConfirmable, "rscctl migrations show orders"},
		{protocol.CodeStoreUnavailable, "rscctl health"},
		{protocol.CodeMetadataMissing, "docs/operations-runbook.md"},
		{protocol.CodeNotFound, "rscctl version"},
		{protocol.CodeInternal, "log"},
		{"SOMETHING_NEW", "log"},
	} {
		require.Contains(t, nextStep(one.code, where), one.want, one.code)
	}
}

func TestNoCoordinatorIsSaidWithItsAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(nil)
	server.Close()
	got := rscctl(t, scene{}, server.URL, "streams list")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "cannot list the streams: no coordinator answers at "+server.URL+": ")
	require.Contains(t, got.err, "connection refused")
	require.Contains(t, got.err, "next: check that a coordinator runs there, or name another one with --coordinator or $RSC_COORDINATOR\n")
	got = rscctl(t, scene{}, server.URL, "repair index --reason r")
	require.Contains(t, got.err, "the change may have been made or not")
}

func TestAStreamWithSeveralGroupsNeedsTheGroup(t *testing.T) {
	t.Parallel()
	several := orders()
	several.ConsumerGroups = []string{"a", "b"}
	_, url := serve(t, answers{getOrders: {several}})
	got := rscctl(t, scene{}, url, "members orders")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "stream orders has 2 groups (a, b); name one behind it")
}

func TestWithoutAReshardingUnderWayThereIsNothingToUndo(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"migrations rollback orders --reason r", "migrations confirm-drain orders --shard 1 --reason r"} {
		f, url := serve(t, underway(false))
		got := rscctl(t, scene{}, url, line)
		require.Equal(t, outcome{code: 1, err: "rscctl: stream orders has no resharding under way\n"}, got)
		require.Empty(t, f.changes())
	}
}

func TestHelpTeachesAndExitsWith0(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                     "The exit code is 0",
		"--help":               "Examples:",
		"streams":              "Available Commands:",
		"streams scale --help": "rscctl streams scale orders 8 --dry-run",
		"help migrations":      "DRAINING      removed shards are read",
		"events --help":        "--follow",
		"repair barrier -h":    "safe only when no member",
	} {
		got := inBubble(t.Context(), scene{}, &fake{}, line)
		require.Zero(t, got.code, line)
		require.Contains(t, got.out, want, line)
		require.Empty(t, got.err, line)
	}
}

func TestAPasswordInTheURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	got := inBubble(t.Context(), scene{env: map[string]string{"RSC_COORDINATOR": "http://ann:secret@host"}}, &fake{}, "streams list")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, "holds credentials")
	require.NotContains(t, got.out+got.err, "secret")
}

func TestHelpDoesNotRepeatAPasswordOfTheEnvironment(t *testing.T) {
	t.Parallel()
	got := inBubble(t.Context(), scene{env: map[string]string{"RSC_COORDINATOR": "http://ann:secret@host"}}, &fake{}, "streams list --help")
	require.Zero(t, got.code)
	require.NotContains(t, got.out+got.err, "secret")
}

func TestNoAnswerInTimeIsSaid(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gone }))
	defer server.Close()
	defer close(gone)
	got := rscctl(t, scene{}, server.URL, "streams list --timeout 20ms")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.err, "cannot list the streams: no answer in time from "+server.URL)
}
