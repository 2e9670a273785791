package codec_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
)

// object is a JSON object that a test damages.
type object = map[string]any

// damage is one way in which a record may be wrong; field is what the refusal names.
type damage struct {
	name, field string
	do          func(doc object)
}

func list(doc object, key string) []any {
	items, _ := doc[key].([]any)
	return items
}

func at(doc object, key string, i int) object {
	item, _ := list(doc, key)[i].(object)
	return item
}

func set(key string, value any) func(object) { return func(doc object) { doc[key] = value } }

func unset(key string) func(object) { return func(doc object) { delete(doc, key) } }

func setAt(list string, i int, key string, value any) func(object) {
	return func(doc object) { at(doc, list, i)[key] = value }
}

func unsetAt(list string, i int, key string) func(object) {
	return func(doc object) { delete(at(doc, list, i), key) }
}

func document(tb testing.TB, data []byte) object {
	tb.Helper()
	var doc object
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	require.NoError(tb, decoder.Decode(&doc))
	return doc
}

// groupDamage is done to group-handoff.json: members 0 and 1 are ACTIVE, then EXPIRED,
// FENCED, LEFT, LEAVING, SUSPENDED, WAITING; holds 0 to 2 are read, 1 and 2 told, 3 and 4
// linger, 5 is free.
func groupDamage() []damage {
	damages := []damage{
		{"a number as text", "groupEpoch", set("groupEpoch", "19")},
		{"a fraction", "metadataVersion", set("metadataVersion", 74.5)},
		{"a number too big", "epochCounter", set("epochCounter", json.Number("9223372036854775808"))},
		{"an unknown field", "extra", set("extra", 1)},
		{"an unknown field of a member", "extra", setAt("members", 0, "extra", 1)},
		{"members as an object", "members", set("members", object{})},
		{"a hold as a text", "holds", func(doc object) { list(doc, "holds")[0] = "orders-m0" }},
		{"a null in the target", "null", func(doc object) { list(doc, "target")[0] = nil }},
		{"no lineage", "lineage", set("lineage", "")},
		{"a stream prefix with a brace", "streamPrefix", set("streamPrefix", "a{b")},
		{"no stream prefix", "streamPrefix", set("streamPrefix", "")},
		{"a consumer group with a colon", "consumerGroup", set("consumerGroup", "a:b")},
		{"too many known lineages", "known", set("known", slices.Repeat([]any{"x"}, 65))},
		{"no metadata version", "metadataVersion", set("metadataVersion", 0)},
		{"an assignment epoch ahead", "assignmentEpoch", set("assignmentEpoch", 20)},
		{"no assignment epoch", "assignmentEpoch", set("assignmentEpoch", 0)},
		{"a counter that would run over", "epochCounter is out", set("epochCounter", math.MaxInt64)},
		{"a version that would run over", "metadataVersion is out", set("metadataVersion", math.MaxInt64)},
		{"a group epoch that would run over", "groupEpoch is out", set("groupEpoch", math.MaxInt64)},
		{"no group epoch", "groupEpoch is out", set("groupEpoch", 0)},
		{"a counter that started again (E1)", "epoch", set("epochCounter", 50)},
		{"more shards routed than read", "shardCount", set("shardCount", 7)},
		{"more shards routed than read, and a sum that runs over", "shardCount", func(doc object) {
			set("shardCount", math.MaxInt64)(doc)
			set("removed", math.MaxInt64)(doc)
		}},
		{"a target of another length", "holds", func(doc object) { doc["target"] = list(doc, "target")[:5] }},
		{"holds of another length", "holds", func(doc object) { doc["holds"] = append(list(doc, "holds"), object{}) }},
		{"a round opened before the first version (M4)", "round.openedVersion", set("round", object{"openedVersion": 0, "openedAt": 1})},
		{"a round opened in the future", "round.openedVersion", set("round", object{"openedVersion": 75, "openedAt": 1})},
		{"a round without its version", "round.openedVersion", set("round", object{"openedAt": 1})},
		{"a round opened at no time", "round.openedAt", set("round", object{"openedVersion": 70, "openedAt": -1})},
		{"a barrier in which a drop timer runs (H3)", "members[0].dropBy", set("barrierUntil", 1)},

		{"members out of order", "members[1].id", func(doc object) { slices.Reverse(list(doc, "members")[:2]) }},
		{"two members with one id", "members[3].id", setAt("members", 3, "id", "orders-m2")},
		{"a member without id", "members[0].id", setAt("members", 0, "id", "")},
		{"a member id with a space", "members[0].id", setAt("members", 0, "id", "orders m0")},
		{"a member in no state", "members[2].state", unsetAt("members", 2, "state")},
		{"a state in small letters", "members[2].state", setAt("members", 2, "state", "expired")},
		{"an epoch above the counter", "members[4].epoch", setAt("members", 4, "epoch", 2_097_191)},
		{"a member that never joined", "members[4].joinEpoch", setAt("members", 4, "joinEpoch", 0)},
		{"a join after the last epoch", "members[4].joinEpoch", setAt("members", 4, "joinEpoch", 41)},
		{"a floor of a round outside of one (E4)", "members[4].roundFloor", setAt("members", 4, "roundFloor", 3)},
		{"a state that began never (J6)", "members[3].since", unsetAt("members", 3, "since")},
		{"a drop timer of a member that is told nothing", "members[1].dropBy", setAt("members", 1, "dropBy", 1)},
		{"a drop timer of a suspended member", "members[6].dropBy", setAt("members", 6, "dropBy", 1)},

		{"a target that nobody is", "target[0]", func(doc object) { list(doc, "target")[0] = "orders-m9" }},
		{"a target that was fenced", "target[5]", func(doc object) { list(doc, "target")[5] = "orders-m3" }},
		{"a target that leaves", "target[5]", func(doc object) { list(doc, "target")[5] = "orders-m5" }},
		{"a target that expired", "target[5]", func(doc object) { list(doc, "target")[5] = "orders-m2" }},

		{"a hold that nobody has", "holds[5]", setAt("holds", 5, "m", "orders-m9")},
		{"a hold without member but told", "holds[5]", setAt("holds", 5, "t", true)},
		{"a hold without member that lingers", "holds[3]", unsetAt("holds", 3, "m")},
		{"a hold without member of an incarnation", "holds[5]", setAt("holds", 5, "i", "x")},
		{"a hold of a fenced member that does not linger (H4)", "holds[4]", unsetAt("holds", 4, "l")},
		{"a hold of a suspended member that does not linger (H4)", "holds[3]", unsetAt("holds", 3, "l")},
		{"a hold of a member that has left (J5)", "holds[2]", setAt("members", 5, "state", "LEFT")},
		{"a hold of another incarnation (H4)", "holds[0]", setAt("holds", 0, "i", "01KDVDNR0000000000000INC99")},
		{"a hold of no incarnation (H4)", "holds[0]", unsetAt("holds", 0, "i")},
		{"a hold that lingers and is told", "holds[3]", setAt("holds", 3, "t", true)},
		{"a wanted hold that is told to drop", "holds[0]", setAt("holds", 0, "t", true)},
		{"a hold wanted elsewhere and not told (H2)", "holds[1]", unsetAt("holds", 1, "t")},
	}
	for _, key := range []string{"streamPrefix", "consumerGroup", "lineage", "groupEpoch", "assignmentEpoch", "epochCounter", "metadataVersion", "shardCount", "target", "holds", "members", "createdAt"} {
		damages = append(damages,
			damage{"no " + key, key, unset(key)}, damage{key + " as null", "null", set(key, nil)})
	}
	for _, key := range []string{"claimedVersion", "claimedEpoch", "groupEpoch", "assignmentEpoch", "epochCounter", "metadataVersion", "shardCount", "barrierUntil", "graceUntil", "createdAt"} {
		damages = append(damages, damage{"negative " + key, key, set(key, -1)})
	}
	for _, key := range []string{"epoch", "joinEpoch", "since", "dropBy"} {
		damages = append(damages, damage{"negative " + key, "members[0]." + key, setAt("members", 0, key, math.MinInt64)})
	}
	damages = append(damages, damage{"a hold that lingers until before time", "holds[3]", setAt("holds", 3, "l", -1)})
	const never = 253_402_300_800_000 // the year 10000
	for _, key := range []string{"barrierUntil", "graceUntil", "createdAt"} {
		damages = append(damages, damage{key + " beyond all time", key, set(key, never)})
	}
	return append(damages,
		damage{"a floor above the join in a round (E4)", "members[4].roundFloor", func(doc object) {
			set("round", object{"openedVersion": 70, "openedAt": 1})(doc)
			setAt("members", 4, "roundFloor", 13)(doc)
		}},
		damage{"a negative floor", "members[4].roundFloor", func(doc object) {
			set("round", object{"openedVersion": 70, "openedAt": 1})(doc)
			setAt("members", 4, "roundFloor", -1)(doc)
		}},
		damage{"a lingering hold beyond all time", "holds[3]", setAt("holds", 3, "l", never)},
		damage{"a state since beyond all time", "members[3].since", setAt("members", 3, "since", never)},
		damage{"a drop timer beyond all time", "members[0].dropBy", setAt("members", 0, "dropBy", never)})
}

// layoutDamage is done to group-drain.json: shards 0 and 1 are routed, 2 to 4 removed, 3
// and 4 closed, 1 lost; 5 and 6 are outside the reading set, and 6 lingers.
func layoutDamage() []damage {
	return []damage{
		{"a negative layout version", "layoutVersion", set("layoutVersion", -1)},
		{"a layout version that would run over", "layoutVersion", set("layoutVersion", math.MaxInt64)},
		{"removed shards below none", "shardCount", set("removed", -1)},
		{"more removed shards than there are", "shardCount", set("removed", 6)},
		{"a closed shard that is routed (L5)", "closed", set("closed", []any{1, 3})},
		{"a closed shard outside the reading set (L6)", "closed", set("closed", []any{3, 5})},
		{"closed shards out of order", "closed", set("closed", []any{4, 3})},
		{"a shard closed twice", "closed", set("closed", []any{3, 3, 4})},
		{"a lost shard below all", "lost", set("lost", []any{-1})},
		{"a lost shard outside the reading set (L12)", "lost", set("lost", []any{5})},
		{"lost shards out of order", "lost", set("lost", []any{1, 0})},
		{"an owner of a closed shard (L5)", "target[3]", func(doc object) {
			list(doc, "target")[3] = "m1"
			delete(at(doc, "holds", 3), "t")
		}},
		{"an owner outside the reading set (L6)", "target[6]", func(doc object) { list(doc, "target")[6] = "m0" }},
		{"a holder of a closed shard that is told nothing (L5)", "holds[3]", unsetAt("holds", 3, "t")},
		{"a shard outside the reading set that nobody may read", "holds", setAt("holds", 6, "m", "")},
		{"one that is free at the end", "holds", func(doc object) { list(doc, "holds")[6] = object{} }},
	}
}

func refusals(t *testing.T, file string, damages []damage, decode func([]byte) error) {
	t.Helper()
	require.NoError(t, decode(golden(t, file)), "the undamaged record")
	for _, d := range damages {
		doc := document(t, golden(t, file))
		d.do(doc)
		data, err := json.Marshal(doc)
		require.NoError(t, err)
		err = decode(data)
		require.ErrorIs(t, err, codec.ErrCorrupt, d.name)
		require.ErrorContains(t, err, d.field, d.name)
	}
}

func groupError(data []byte) error {
	g, err := codec.DecodeGroup(1, data)
	if err != nil && g != nil {
		return fmt.Errorf("a group was returned beside %w", codec.ErrSchema)
	}
	return err
}

func TestM6DamagedGroupIsRefusedWithTheNameOfTheField(t *testing.T) {
	t.Parallel()
	refusals(t, "group-handoff.json", groupDamage(), groupError)
	refusals(t, "group-drain.json", layoutDamage(), groupError)
}

// TestM6RecordsThatAreNoRecordAreRefused does to the text what cannot be done to a value.
func TestM6RecordsThatAreNoRecordAreRefused(t *testing.T) {
	t.Parallel()
	for file, decode := range map[string]func([]byte) error{"group-handoff.json": groupError, "stream.json": streamError} {
		whole := string(golden(t, file))
		for name, text := range map[string]string{
			"empty": "", "blank": " \n", "null": "null", "array": "[]", "text": `"x"`, "number": "1", "empty object": "{}",
			"bad JSON": "{]", "array around it": "[" + whole + "]", "NUL behind": whole + "\x00", "brace behind": whole + "}",
			"twice": whole + whole, "another behind": whole + "\n{}", "BOM": "\ufeff" + whole,
			"a deep one":          strings.Repeat(`{"a":`, 100_000),
			"key in other case":   strings.Replace(whole, `"lineage"`, `"Lineage"`, 1),
			"key twice":           strings.Replace(whole, `"lineage"`, `"lineage":"x","lineage"`, 1),
			"key twice, any case": strings.Replace(whole, `"lineage"`, `"LINEAGE":"x","lineage"`, 1),
			"key with an escape":  strings.Replace(whole, `"lineage"`, `"\u006cineage":"x","lineage"`, 1),
			"inner key twice":     strings.Replace(whole, `"state":`, `"state":"LEFT","State":`, 1),
			"invalid UTF-8":       strings.Replace(whole, "01KDVDNR", "01KDVD\xffR", 1),
		} {
			require.NotEqual(t, whole, text, name)
			err := decode([]byte(text))
			require.ErrorIs(t, err, codec.ErrCorrupt, "%s %s", file, name)
		}
		for n := range len(whole) {
			require.ErrorIs(t, decode([]byte(whole[:n])), codec.ErrCorrupt, "%s cut after %d bytes", file, n)
		}
	}
}
