package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/manifest"
)

const wantedStreams = `streams:
  - name: mails
    shardCount: 2
    groups: [{name: a}, {name: b, initialPosition: latest}]
  - name: orders
    shardCount: 3
    groups: [{name: orders-g}, {name: more}]
`

const getStreams = "GET /streams"

// eight is the stream orders with eight shards.
func eight() protocol.StreamResponse {
	stream := orders()
	stream.ShardCount = 8
	return stream
}

// planOf a creation.
func creation(stream string, shards int) protocol.Plan {
	return protocol.Plan{Action: protocol.PlanCreate, StreamPrefix: stream, ToShardCount: shards}
}

// declarable are the answers to wantedStreams, with a stream that nobody declares.
func declarable() answers {
	zoo := protocol.StreamResponse{StreamPrefix: "zoo", ShardCount: 1, ConsumerGroups: []string{"z"}}
	kept := creation("orders", 8)
	kept.FromShardCount = 8
	return answers{
		getStreams:                        {protocol.StreamsResponse{Streams: []protocol.StreamResponse{eight(), zoo}}},
		"POST /streams/mails?dryRun=true": {creation("mails", 2)},
		"POST /streams/orders/groups/more?dryRun=true": {kept},
		planScale:                          {fewer()},
		"DELETE /streams/zoo?dryRun=true":  {protocol.Plan{Action: protocol.PlanDelete, FromShardCount: 1, ShardsRemoved: []int{0}}},
		"POST /streams/mails":              {protocol.StreamCreateResponse{StreamPrefix: "mails"}},
		"POST /streams/mails/groups/b":     {ordersGroup()},
		"POST /streams/orders/groups/more": {ordersGroup()},
		postScale:                          {beganR1()},
		"DELETE /streams/zoo":              {zoo},
	}
}

func declaredFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "streams.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

const plannedChanges = `Plan: create stream mails with 2 shards, groups: a
  shards: 0 -> 2
Plan: add group b to stream mails, from the latest record on
Plan: add group more to stream orders, from the earliest record on
  shards: 8, as before
Drift: stream orders has 8 shards, the file says 3.
` + planned

func TestAPlanShowsEverythingAndChangesNothing(t *testing.T) {
	t.Parallel()
	file := declaredFile(t, wantedStreams)
	for line, code := range map[string]int{
		"plan -f": 0, "apply -f": 0, "plan --detailed-exitcode -f": 4, "apply --detailed-exitcode -f": 4,
	} {
		f, url := serve(t, declarable())
		require.Equal(t, outcome{code: code, out: plannedChanges + `Unmanaged, left alone: stream zoo
Changes: 4
Nothing was changed: this is a dry run; rscctl apply --execute makes the changes.
`}, rscctl(t, scene{}, url, line+" "+file))
		for _, call := range f.changes() {
			require.Contains(t, call, "?dryRun=true ")
		}
	}
}

func TestAnApplyMakesTheChangesInOrderEachUnderAKey(t *testing.T) {
	t.Parallel()
	f, url := serve(t, declarable())
	got := rscctl(t, scene{in: wantedStreams}, url, "apply -f - --execute --reason r")
	require.Equal(t, outcome{out: plannedChanges + `Unmanaged, left alone: stream zoo
Changes: 4
DONE      create stream mails with 2 shards, groups: a
DONE      add group b to stream mails, from the latest record on
DONE      add group more to stream orders, from the earliest record on
DONE      scale stream orders to 3 shards
Follow it with: rscctl migrations watch orders
`}, got)
	require.Equal(t, []string{
		`POST /streams/mails {"initialShardCount":2,` + signed + `,"consumerGroups":["a"]}`,
		`POST /streams/mails/groups/b {` + signed + `,"initialPosition":"latest"}`,
		`POST /streams/orders/groups/more {` + signed + `,"initialPosition":"earliest"}`,
		`POST /streams/orders/scale {"targetShardCount":3,` + signed + `}`,
	}, made(f))
	keys := map[string]bool{}
	for i, call := range f.asked {
		if !strings.HasPrefix(call, "GET") && !strings.Contains(call, "dryRun") {
			require.NotEmpty(t, f.keys[i])
			keys[f.keys[i]] = true
		}
	}
	require.Len(t, keys, 4, "every change has a key of its own")
}

// made are the changes that were no dry runs.
func made(f *fake) []string {
	return slices.DeleteFunc(f.changes(), func(call string) bool { return strings.Contains(call, "dryRun=true") })
}

func TestAnApplyOfWhatIsThereDoesNothing(t *testing.T) {
	t.Parallel()
	const file = "streams: [{name: orders, shardCount: 4, groups: [{name: orders-g}]}]"
	for _, line := range []string{"apply --execute --reason r --wait -f -", "apply -f -", "plan --detailed-exitcode -f -"} {
		f, url := serve(t, answers{getStreams: {protocol.StreamsResponse{Streams: []protocol.StreamResponse{orders()}}}})
		require.Equal(t, outcome{out: "Nothing to do: all is as - says (1 streams).\n"}, rscctl(t, scene{in: file}, url, line))
		require.Empty(t, f.changes())
	}
}

func TestWhoMayNotListAllStreamsIsShownThoseOfTheFile(t *testing.T) {
	t.Parallel()
	says := declarable()
	says[getStreams] = []any{refused{protocol.CodeForbidden, "scopes"}}
	says[getOrders] = []any{eight()}
	says["GET /streams/mails"] = []any{refused{protocol.CodeStreamNotFound, "none"}}
	f, url := serve(t, says)
	got := rscctl(t, scene{in: wantedStreams}, url, "apply --execute --reason r -f -")
	require.Zero(t, got.code, got.err)
	require.Contains(t, got.err, "only those of the file are looked at")
	require.Len(t, made(f), 4)
	require.Equal(t, 1, rscctl(t, scene{in: wantedStreams}, url, "apply --execute --reason r --prune -f -").code, "all have to be known")
	require.Len(t, made(f), 4)
}

func TestWhatWouldBeRefusedKeepsEverythingFromBeingBegun(t *testing.T) {
	t.Parallel()
	says := declarable()
	plan := fewer()
	plan.Refusal = &protocol.PlanRefusal{ErrorCode: protocol.CodeActiveMigrationExists, Message: "R0 is under way"}
	says[planScale] = []any{plan}
	f, url := serve(t, says)
	got := rscctl(t, scene{in: wantedStreams}, url, "apply --execute --reason r -f -")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "  It would be refused.\n")
	require.NotContains(t, got.out, "DONE")
	require.Contains(t, got.err, "cannot scale stream orders to 3 shards: R0 is under way\n  code: ACTIVE_MIGRATION_EXISTS\n")
	require.Empty(t, made(f))
	require.Equal(t, 1, rscctl(t, scene{in: wantedStreams}, url, "plan --detailed-exitcode -f -").code)
}

func TestTheFirstRefusalEndsAnApplyAndSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	for state, answer := range map[string]any{changeRefused: refused{protocol.CodeRateLimitExceeded, "too often"}, changeUnknown: cutOff{}} {
		says := declarable()
		says["POST /streams/orders/groups/more"] = []any{answer}
		f, url := serve(t, says)
		got := rscctl(t, scene{in: wantedStreams}, url, "apply --execute --reason r -o json -f -")
		require.Equal(t, 1, got.code)
		var report declared
		require.NoError(t, json.Unmarshal([]byte(got.out), &report))
		var states []string
		for _, one := range report.Changes {
			states = append(states, one.State)
		}
		require.Equal(t, []string{changeDone, changeDone, state, changeNotDone}, states)
		require.NotNil(t, report.Changes[2].Error)
		require.Contains(t, got.err, "NOT DONE  scale stream orders to 3 shards\n")
		require.Contains(t, got.err, "(2 of 4 changes are made; the same command goes on from there)")
		require.NotContains(t, made(f), "POST /streams/orders/scale")
	}
}

func TestPruningNeedsTheOperatorsWord(t *testing.T) {
	t.Parallel()
	file := declaredFile(t, wantedStreams)
	pruning := declaredFile(t, "prune: true\n"+wantedStreams)
	for name, one := range map[string]struct {
		scene scene
		line  string
		code  int
		gone  bool
	}{
		"given as --yes":        {scene{}, "--prune --yes -f " + file, 0, true},
		"given in the file too": {scene{}, "--yes -f " + pruning, 0, true},
		"typed":                 {scene{person: true, in: "prune\n"}, "--prune -f " + file, 0, true},
		"typed for the file":    {scene{person: true, in: "prune\n"}, "-f " + pruning, 0, true},
		"not typed":             {scene{person: true, in: "yes\n"}, "--prune -f " + file, 1, false},
		"nobody to ask":         {scene{}, "--prune -f " + file, 2, false},
		"the input is the file": {scene{person: true, in: wantedStreams}, "--prune -f -", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, url := serve(t, declarable())
			got := rscctl(t, one.scene, url, "apply --execute --reason r "+one.line)
			require.Equal(t, one.code, got.code, got.err)
			require.NotContains(t, got.out, "Unmanaged")
			require.Contains(t, got.out, "Plan: delete stream zoo\n")
			if one.gone {
				require.Equal(t, `DELETE /streams/zoo {`+signed+`}`, made(f)[len(made(f))-1])
			} else {
				require.Empty(t, made(f))
			}
		})
	}
}

func TestAnApplyWaitsForTheEndOfReshardings(t *testing.T) {
	t.Parallel()
	for code, end := range map[int]protocol.MigrationState{0: protocol.MigrationDeprecated, 3: protocol.MigrationRolledBack} {
		for _, output := range []string{"table", "json"} {
			synctest.Test(t, func(t *testing.T) {
				says := declarable()
				says[getOrders], says[listed] = []any{eight()}, []any{protocol.MigrationsResponse{}}
				says[getMigration] = story(end)
				got := inBubble(t.Context(), scene{in: wantedStreams}, &fake{answers: says}, "apply --execute --wait --reason r -f - -o "+output)
				require.Equal(t, code, got.code, got.err)
				if output == "table" {
					require.Contains(t, got.out, "R1  8 -> 3 shards  "+string(end)+"  5 of 5 done\n")
				} else {
					require.NoError(t, json.Unmarshal([]byte(got.out), &declared{}), "there is one answer")
				}
			})
		}
	}
}

func TestAReshardingUnderWayToWhatIsDeclaredIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stream := eight()
		stream.Groups[0].ActiveMigration = new(resharding(protocol.MigrationDraining, nil))
		f := &fake{answers: answers{
			getStreams:   {protocol.StreamsResponse{Streams: []protocol.StreamResponse{stream}}},
			getMigration: story(protocol.MigrationDeprecated),
		}}
		const file = "streams: [{name: orders, shardCount: 3, groups: [{name: orders-g}]}]"
		got := inBubble(t.Context(), scene{in: file}, f, "apply --execute --wait --reason r -f -")
		require.Zero(t, got.code, got.err)
		require.Contains(t, got.out, "Under way: resharding R1 of stream orders, 8 -> 3 shards, DRAINING.\n")
		require.Contains(t, got.out, "R1  8 -> 3 shards  DEPRECATED")
		require.Empty(t, f.changes())
	})
}

func TestAFileThatIsWrongIsToldLineByLine(t *testing.T) {
	t.Parallel()
	file := declaredFile(t, "streams:\n  - name: orders\n    shards: 4\n    groups: [{name: g\x07}]\n")
	for _, line := range []string{"plan -f ", "apply --execute --reason r -f "} {
		f, url := serve(t, declarable())
		got := rscctl(t, scene{}, url, line+file)
		require.Equal(t, 2, got.code)
		require.Empty(t, got.out)
		require.Contains(t, got.err, "rscctl: the file cannot be taken; nothing was changed\n  "+file)
		require.Empty(t, f.asked)
	}
	many := strings.Repeat("x: 1\n", 1)
	for i := range 80 {
		many += "k" + strings.Repeat("k", i) + ": 1\n"
	}
	got := inBubble(t.Context(), scene{in: many}, &fake{}, "plan -f -")
	require.Contains(t, got.err, "  and 32 more\n")
	require.NotContains(t, got.err, "\a")
}

func TestWrongLinesOfPlanAndApplyExitWith2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"plan":                       "--file names the file",
		"apply --reason r --execute": "--file names the file",
		"apply -f - --execute":       "a change needs --reason",
		"plan -f /does/not/exist":    "no such file",
		"plan -f /":                  "the file: ",
		"plan -f - --execute":        "unknown flag: --execute",
		"plan streams.yaml":          "unknown command",
	} {
		got := inBubble(t.Context(), scene{}, &fake{}, line)
		require.Equal(t, 2, got.code, line)
		require.Contains(t, got.err, want, line)
	}
}

func TestEveryActionHasWordsAndAPlace(t *testing.T) {
	t.Parallel()
	for action, want := range map[manifest.Action]string{
		manifest.CreateStream: "create stream s with 2 shards, groups: g", manifest.Scale: "scale stream s to 2 shards",
		manifest.AddGroup: "add group g to stream s, from the latest record on", manifest.DeleteGroup: "delete group g of stream s",
		manifest.DeleteStream: "delete stream s",
	} {
		change := manifest.Change{Action: action, Stream: "s", Groups: []manifest.Group{{Name: "g", InitialPosition: "latest"}}, To: 2}
		require.Equal(t, want, doingOf(change))
		require.Equal(t, "s", placeOf(change).stream)
	}
	first := manifest.Change{Action: manifest.AddGroup, Stream: "s", Groups: []manifest.Group{{Name: "g", InitialPosition: "latest"}}, To: 2, New: true}
	require.Equal(t, "create stream s with 2 shards and group g, from the latest record on", doingOf(first))
	require.Equal(t, 2, *groupRequest(first, signature{}).InitialShardCount)
}
