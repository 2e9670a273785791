package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// filled returns a T in which everything is set, or nothing that need not be.
func filled[T any](all bool) T {
	var value T
	fill(reflect.ValueOf(&value).Elem(), all)
	return value
}

func fill(v reflect.Value, all bool) {
	if v.Type() == reflect.TypeFor[protocol.Timestamp]() {
		v.Set(reflect.ValueOf(at(0)))
		return
	}
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field, all)
			}
		}
	case kind == reflect.Pointer && all:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), all)
	case kind == reflect.Pointer: // stays nil
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), all)
	case kind == reflect.Map:
		one := reflect.New(v.Type().Elem()).Elem()
		fill(one, all)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("m").Convert(v.Type().Key()), one)
	case kind == reflect.String:
		v.SetString("x")
	case v.CanInt():
		v.SetInt(1)
	case v.CanFloat():
		v.SetFloat(1.5)
	case kind == reflect.Bool:
		v.SetBool(true)
	default:
		panic("no value for a " + v.Type().String())
	}
}

// list returns one T in which everything is set, and one in which nothing is that need not be.
func list[T any]() []T { return []T{filled[T](true), filled[T](false)} }

// unsampled are rows of groups as they are told to who asks for no samples.
func unsampled() []protocol.GrafanaGroupRow {
	rows := list[protocol.GrafanaGroupRow]()
	for i := range rows {
		rows[i].Samples = nil
	}
	return rows
}

// contracts are command lines with what the server says, once with everything set and once
// with nothing that need not be.
func contracts(all bool) map[string]answers {
	const (
		group  = "/streams/orders/groups/g"
		change = " --reason r --yes -o json"
	)
	stream := filled[protocol.StreamResponse](all)
	stream.ConsumerGroups = []string{"g"}
	plan := filled[protocol.Plan](all)
	plan.Refusal = nil
	events := filled[protocol.EventsResponse](all)
	events.Next = nil
	reshardings := filled[protocol.MigrationsResponse](all)
	m := filled[protocol.Migration](all)
	m.State = protocol.MigrationDeprecated
	begun := filled[protocol.StreamScaleResponse](all)
	audited := filled[protocol.AuditResponse](all)
	audited.Next = nil
	whole := filled[protocol.AuditResponse](true)
	whole.Next = nil
	routing := protocol.ProducerRouting{
		StreamPrefix: "orders", ConsumerGroup: "g", ShardCount: 1, StreamKeyPattern: "orders:{shardIndex}",
		Shards: []protocol.RoutingShard{{ShardIndex: 0, StreamKey: "orders:0"}},
	}
	rowsOf := list[protocol.GrafanaMessageRow]()
	for i := range rowsOf {
		rowsOf[i].FieldsJSON = `{"m": "x"}`
	}
	toR := answers{getOrders: {stream}, "GET /monitoring" + group + "/migrations": {reshardings}, "GET " + group + "/migrations/R1": {m}}
	and := func(says answers, more answers) answers {
		both := maps.Clone(says)
		maps.Copy(both, more)
		return both
	}
	return map[string]answers{
		"streams list -o json":                     {getStreams: {filled[protocol.StreamsResponse](all)}},
		"streams describe orders -o json":          {getOrders: {stream}},
		"streams create orders --reason r -o json": {"POST /streams/orders": {filled[protocol.StreamCreateResponse](all)}},
		"streams scale orders 3" + change:          {planScale: {plan}, postScale: {begun}},
		"streams scale orders 3 --dry-run -o json": {planScale: {plan}},
		"streams delete orders" + change:           {"DELETE /streams/orders?dryRun=true": {plan}, "DELETE /streams/orders": {stream}},
		"groups list -o json":                      {"GET /monitoring/groups": {filled[protocol.GroupsResponse](all)}},
		"groups describe orders g -o json":         {"GET " + group: {filled[protocol.GroupResponse](all)}},
		"groups add orders g --reason r -o json":   {"POST " + group: {filled[protocol.GroupResponse](all)}},
		"groups delete orders g" + change:          {"DELETE " + group + "?dryRun=true": {plan}, "DELETE " + group: {filled[protocol.GroupResponse](all)}},
		"members orders g -o json":                 {"GET /monitoring" + group + "/members": {filled[protocol.MembersResponse](all)}},
		"shards orders g -o json": {
			"GET /monitoring" + group + "/assignments": {filled[protocol.AssignmentsResponse](all)}, "GET " + group: {filled[protocol.GroupResponse](all)},
			"GET " + group + "/producer-routing": {routing},
		},
		"lag -o json":                         {getRows: {unsampled()}},
		"lag orders g -o json":                {getOffsets: {filled[protocol.StreamShardOffsetsResponse](all)}},
		"messages orders g -o json":           {getMerged + merged: {rowsOf}},
		"messages orders g --shard 3 -o json": {getShard + "direction=BACKWARD&limit=25": {filled[protocol.StreamMessagesPageResponse](all)}},
		"pending orders g -o json": {
			getOffsets: {pendingOn(3)}, getPending + "25": {filled[protocol.PendingResponse](all)},
		},
		"pending orders g --shard 3 -o json": {getPending + "25": {filled[protocol.PendingResponse](all)}},
		"events orders g -o json":            {getEvents: {events}},
		"migrations list orders -o json":     toR,
		"migrations show orders R1 -o json":  toR,
		"migrations watch orders R1 -o json": toR,
		"migrations rollback orders R1" + change: and(toR, answers{
			"POST " + group + "/migrations/R1/rollback?dryRun=true": {plan}, "POST " + group + "/migrations/R1/rollback": {m},
		}),
		"migrations confirm-drain orders R1 --shard 1 --reason r -o json": and(toR, answers{"POST " + group + "/migrations/R1/confirm-drain": {m}}),
		"audit list -o json":                         {"GET /audit?limit=100": {audited}},
		"audit verify -o json":                       {"GET /audit?limit=1000": {whole}},
		"plan -f - -o json":                          declarable(),
		"apply -f - --execute --reason r -o json":    declarable(),
		"repair barrier orders g --reason r -o json": {"POST " + group + "/barrier": {filled[protocol.GroupResponse](all)}},
		"repair fence orders g m --reason r -o json": {"POST " + group + "/members/m/fence": {filled[protocol.GroupResponse](all)}},
		"repair index --reason r -o json":            {"POST /admin/repair-index": {filled[protocol.RepairIndexResponse](all)}},
		"health -o json":                             {"GET /monitoring/health": {protocol.HealthResponse{Status: "UP", Problems: []string{"x"}}}},
		"system -o json":                             {"GET /system": {filled[protocol.SystemResponse](all)}},
		"version -o json":                            {"GET /version": {filled[protocol.VersionResponse](all)}},
		"hash-password -o json":                      {},
		"login --user ops --password-stdin -o json":  {toLogin: {filled[protocol.LoginResponse](all)}},
	}
}

// widen adds lines to the files of the contract; it takes none away.
var widen = flag.Bool("widen", false, "add new fields to the files of the JSON contract")

// What a program reads stays: every field that a command once had is there with its type. New
// ones may come, which -widen notes.
func TestJSONIsAContract(t *testing.T) {
	t.Parallel()
	for line := range contracts(true) {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, all := range []bool{true, false} {
				shapeOf("", answerTo(t, line, contracts(all)[line]), seen)
			}
			name := strings.Join(strings.Fields(strings.NewReplacer("-o json", "", "--", "", " - ", " ", "-", "_").Replace(line)), "_")
			file := filepath.Join("testdata", "contract", name+".txt")
			text, err := os.ReadFile(file)
			if !*widen {
				require.NoError(t, err)
			}
			var once []string
			if len(text) > 0 {
				once = strings.Split(strings.TrimSpace(string(text)), "\n")
			}
			for _, field := range once {
				require.True(t, seen[field], "%s is a part of the contract and is gone", field)
				delete(seen, field)
			}
			if *widen {
				lines := slices.AppendSeq(once, maps.Keys(seen))
				slices.Sort(lines)
				require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
				return
			}
			for field := range seen {
				t.Logf("%s is new: note it with go test -run Contract -widen", field)
			}
		})
	}
}

// answerTo runs a line and returns its answer; that of -o yaml has to say the same.
func answerTo(t *testing.T, line string, says answers) any {
	t.Helper()
	var answer, again any
	synctest.Test(t, func(t *testing.T) {
		run := func(line string) outcome {
			s := scene{in: wantedStreams, env: map[string]string{"XDG_CONFIG_HOME": t.TempDir()}}
			if !strings.HasSuffix(line, "hash-password -o json") && !strings.Contains(line, " -f -") {
				s.in = "password\n"
			}
			if strings.HasPrefix(line, "hash-password") {
				s.in = "a long password\n"
			}
			got := inBubble(t.Context(), s, &fake{answers: maps.Clone(says)}, line)
			require.Contains(t, []int{0, exitFailed}, got.code, got.err)
			require.NotEmpty(t, got.out, got.err)
			return got
		}
		got := run(line)
		decoder := json.NewDecoder(strings.NewReader(got.out))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&answer), got.out)
		if strings.HasPrefix(line, "hash-password") || strings.HasPrefix(line, "login") {
			return // the one has another salt, the other another folder each time
		}
		got = run(strings.Replace(line, "-o json", "-o yaml", 1))
		var node any
		require.NoError(t, yaml.Unmarshal([]byte(got.out), &node), got.out)
		text, err := json.Marshal(node)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &again))
		want, err := json.Marshal(answer)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text))
	})
	return answer
}

// shapeOf notes where there is a value of which type, as in groups[].lag number.
func shapeOf(at string, value any, seen map[string]bool) {
	kind := ""
	switch value := value.(type) {
	case map[string]any:
		kind = "object"
		for name, one := range value {
			shapeOf(at+"."+name, one, seen)
		}
	case []any:
		kind = "list"
		for _, one := range value {
			shapeOf(at+"[]", one, seen)
		}
	case nil:
		kind = "null"
	case json.Number:
		kind = "number"
	default:
		kind = fmt.Sprintf("%T", value)
	}
	if at == "" {
		at = "."
	}
	seen[at+" "+kind] = true
}
