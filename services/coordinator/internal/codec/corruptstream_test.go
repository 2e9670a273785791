package codec_test

import (
	"math"
	"slices"
	"testing"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
)

func streamDamage() []damage {
	damages := []damage{
		{"no prefix", "prefix", set("prefix", "")},
		{"a prefix that ends in a colon", "prefix", set("prefix", "tenant:")},
		{"a negative shard count", "shardCount", set("shardCount", -1)},
		{"a shard count that no store could keep", "shardCount", set("shardCount", math.MaxInt64)},
		{"no metadata version", "metadataVersion", set("metadataVersion", 0)},
		{"a version that would run over", "metadataVersion is out", set("metadataVersion", math.MaxInt64)},
		{"no lineage", "lineage", set("lineage", "")},
		{"created at no time", "createdAt", set("createdAt", -1)},
		{"an unknown field", "extra", set("extra", 1)},
		{"groups out of order", "groups[1].name", func(doc object) { slices.Reverse(list(doc, "groups")) }},
		{"a group twice", "groups[1].name", setAt("groups", 1, "name", "audit")},
		{"a group without name", "groups[0].name", setAt("groups", 0, "name", "")},
		{"a group with a colon", "groups[0].name", setAt("groups", 0, "name", "a:b")},
		{"a group in no state", "groups[0].state", unsetAt("groups", 0, "state")},
		{"a group in an unknown state", "groups[2].state", setAt("groups", 2, "state", "active")},
	}
	for _, key := range []string{"prefix", "shardCount", "metadataVersion", "lineage", "groups", "createdAt"} {
		damages = append(damages,
			damage{"no " + key, key, unset(key)}, damage{key + " as null", "null", set(key, nil)})
	}
	return damages
}

// under does a damage to the resharding under way.
func under(do func(object)) func(object) {
	return func(doc object) {
		r, _ := doc["resharding"].(object)
		do(r)
	}
}

// both does two damages to a record.
func both(one, two func(object)) func(object) { return func(doc object) { one(doc); two(doc) } }

// drainDamage is done to stream-drain.json: a scale-in from 5 shards to 2, of which 2 is
// read, 3 closed and 4 sealed; a rollback of a scale-out and a scale-out are past.
func drainDamage() []damage {
	return []damage{
		{"a negative layout version", "layoutVersion", set("layoutVersion", -1)},
		{"a layout version that would run over", "layoutVersion", set("layoutVersion", math.MaxInt64)},
		{"a layout that changed for no cause", "layoutCause", unset("layoutCause")},
		{"a cause of no change", "layoutCause", unset("layoutVersion")},
		{"a cause that is none of the layout", "layoutCause", set("layoutCause", "JOIN")},
		{"a negative mark", "mark is out", set("mark", -1)},
		{"a mark that would run over", "mark is out", set("mark", math.MaxInt64)},
		{"removed shards below none", "removed is out", set("removed", -1)},
		{"more removed shards than can be", "removed is out", set("removed", math.MaxInt64)},
		{"removed shards without a resharding", "removed", unset("resharding")},
		{"a lost shard below all", "lost", set("lost", []any{-1, 1})},
		{"a lost shard outside the reading set (L12)", "lost", set("lost", []any{1, 5})},
		{"lost shards out of order", "lost", set("lost", []any{1, 0})},
		{"a shard lost twice", "lost", set("lost", []any{1, 1})},
		{"a group that is made meanwhile (L1)", "groups[0].state", setAt("groups", 0, "state", "CREATING")},
		{"a group that is deleted meanwhile (L1)", "groups[1].state", setAt("groups", 1, "state", "DELETING")},

		{"more past reshardings than are kept", "past", func(doc object) { doc["past"] = slices.Repeat(list(doc, "past"), 11) }},
		{"a past one that is under way", "past[0]", setAt("past", 0, "phase", "ROLLING_BACK")},
		{"a past one in no phase", "past[1]", unsetAt("past", 1, "phase")},
		{"a past one with a mark above all", "past[1] has a mark", setAt("past", 1, "mark", 1767225700006)},
		{"a past one that turned and was not rolled back", "past[1] turned", setAt("past", 1, "turned", true)},
		{"a past one that changes no count", "past[1]", setAt("past", 1, "to", 4)},
		{"a past one with one shard too few", "past[0] lists some", setAt("past", 0, "to", 7)},

		{"no id", "resharding", under(unset("id"))},
		{"a resharding with an unknown field", "extra", under(set("extra", 1))},
		{"an order that is null", "null", under(set("order", nil))},
		{"a count below none", "out of range", under(set("to", -1))},
		{"a count before it below none", "out of range", under(set("from", -1))},
		{"a count that no store could keep", "out of range", under(set("from", math.MaxInt64))},
		{"a target that no store could keep", "out of range", under(set("to", math.MaxInt64))},
		{"a resharding that changes nothing", "resharding changes no count", under(set("to", 5))},
		{"a phase in small letters", "unknown phase", under(set("phase", "draining"))},
		{"a phase of one that is finished", "is finished", under(set("phase", "DEPRECATED"))},
		{"a phase of one that was undone", "is finished", under(set("phase", "ROLLED_BACK"))},
		{"no mark", "has no mark", under(unset("mark"))},
		{"a mark that was never given (L2)", "never given", under(set("mark", 1767225700006))},
		{"one that turned and is not rolled back (L8)", "turned", under(set("turned", true))},
		{"draining from before time", "a time that is none", under(set("drainFrom", -1))},
		{"begun before time", "a time that is none", under(set("createdAt", -1))},
		{"changed at no time", "a time that is none", under(set("updatedAt", math.MaxInt64))},

		{"a shard count that is neither", "shardCount", set("shardCount", 3)},
		{"routing that grew back before it turned (L8)", "shardCount", set("shardCount", 5)},
		{"routing that shrank in PREPARING (L3)", "shardCount", under(set("phase", "PREPARING"))},
		{"routing that shrank again after it turned (L8)", "shardCount", under(both(set("phase", "ROLLING_BACK"), set("turned", true)))},
		{"shards removed in PREPARING", "before it begins", both(set("shardCount", 5), under(set("phase", "PREPARING")))},
		{"draining in PREPARING", "before it begins", func(doc object) {
			set("shardCount", 5)(doc)
			unset("removed")(doc)
			under(both(set("phase", "PREPARING"), unset("shards")))(doc)
		}},

		{"shards that are not removed though they are read (L6)", "does not list", unset("removed")},
		{"fewer shards removed than are listed", "does not list", set("removed", 2)},
		{"a scale-in that removes nothing (L3)", "does not list", both(unset("removed"), under(unset("shards")))},
		{"removed shards that are all sealed (L6)", "does not list", under(both(
			setAt("shards", 0, "step", "SEALED"), setAt("shards", 1, "step", "SEALED")))},
		{"removed shards that nobody lists", "does not list", func(doc object) {
			set("removed", 1)(doc)
			under(both(set("to", 6), unset("shards")))(doc)
			set("shardCount", 6)(doc)
		}},
		{"removed shards of a scale-out that was not undone", "other shards than", func(doc object) {
			under(both(set("from", 2), set("to", 5)))(doc)
			set("shardCount", 5)(doc)
		}},
		{"some of the removed shards", "lists some", under(func(r object) { r["shards"] = list(r, "shards")[1:] })},
		{"removed shards out of order", "in order", under(func(r object) { slices.Reverse(list(r, "shards")) })},
		{"a removed shard twice", "in order", under(setAt("shards", 1, "index", 2))},
		{"a removed shard at no step", "shard 2", under(unsetAt("shards", 0, "step"))},
		{"a removed shard at an unknown step", "shard 4", under(setAt("shards", 2, "step", "GONE"))},
		{"a removed shard since before time", "shard 3", under(setAt("shards", 1, "since", -1))},
		{"a confirmation that is null", "null", under(setAt("shards", 0, "confirmed", nil))},
	}
}

func streamError(data []byte) error {
	_, err := codec.DecodeStream(1, data)
	return err
}

func TestM6DamagedStreamIsRefusedWithTheNameOfTheField(t *testing.T) {
	t.Parallel()
	refusals(t, "stream.json", streamDamage(), streamError)
	refusals(t, "stream-drain.json", drainDamage(), streamError)
}
