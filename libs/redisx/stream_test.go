package redisx

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAStreamIsReadFromBothFormsOfTheReply(t *testing.T) {
	t.Parallel()
	entry := []any{"1-0", []any{"f", "1234", "g", ""}}
	list := []any{
		"length", int64(2), "radix-tree-keys", int64(1), "last-generated-id", "3-0", "entries-added", int64(9), "max-deleted-entry-id", "0-7",
		"first-entry", entry, "last-entry",
		[]any{"2-0", []any{"f", "12"}},
	}
	fields := map[any]any{}
	for i := 0; i < len(list); i += 2 {
		fields[list[i]] = list[i+1]
	}
	want := Stream{Length: 2, LastGeneratedID: "3-0", MaxDeletedID: "0-7", EntriesAdded: KnownCount(9), FirstID: "1-0", LastID: "2-0", EntryBytes: 4}
	for _, reply := range []any{list, fields} {
		got, err := ParseStream(reply)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	delete(fields, "entries-added")
	delete(fields, "max-deleted-entry-id")
	fields["first-entry"], fields["last-entry"] = nil, nil
	got, err := ParseStream(fields)
	require.NoError(t, err)
	require.Equal(t, Stream{Length: 2, LastGeneratedID: "3-0"}, got, "an old server, an empty stream")
}

func TestMalformedRepliesAreRefused(t *testing.T) {
	t.Parallel()
	stream := func(change string, value any) any {
		fields := map[any]any{"length": int64(0), "last-generated-id": "0-0"}
		fields[change] = value
		return fields
	}
	for i, reply := range []any{
		nil, "OK", int64(1),
		[]any{"length"},
		stream("length", nil), stream("length", int64(-1)), stream("last-generated-id", int64(0)),
		stream("entries-added", "1"), stream("first-entry", "1-0"), stream("last-entry", []any{"1-0"}),
		stream("first-entry", []any{"1-0", []any{"f"}}), stream("first-entry", []any{int64(1), []any{}}),
		stream("first-entry", []any{"1-0", []any{"f", int64(1)}}),
	} {
		_, err := ParseStream(reply)
		require.ErrorIs(t, err, ErrReply, i)
	}
	for i, reply := range []any{nil, "OK", []any{nil}, []any{"1-0"}} {
		_, err := ParseEntries(reply)
		require.ErrorIs(t, err, ErrReply, i)
		_, err = ParseConsumers(reply)
		require.ErrorIs(t, err, ErrReply, i)
	}
}

func TestConsumersAreSortedByName(t *testing.T) {
	t.Parallel()
	got, err := ParseConsumers([]any{
		[]any{"name", "b", "pending", int64(1), "idle", int64(-5)}, map[any]any{"name": "a", "pending": int64(2), "idle": int64(7)},
	})
	require.NoError(t, err)
	require.Equal(t, []Consumer{{"a", 2, 7}, {"b", 1, 0}}, got)
}

func TestEntriesKeepTheOrderOfTheirFields(t *testing.T) {
	t.Parallel()
	got, err := ParseEntries([]any{[]any{"1-0", []any{"z", "1", "a", "2", "z", "3"}}})
	require.NoError(t, err)
	require.Equal(t, []Entry{{"1-0", []string{"z", "1", "a", "2", "z", "3"}}}, got)
}

func TestEntryIDsAreOrderedAsRedisOrdersThem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "-", "1", "1-", "-1", "01-0", "1-00", "+1-0", "1-0-0", "18446744073709551616-0", "a-0", "1-0 "} {
		_, err := ParseEntryID(text)
		require.ErrorIs(t, err, ErrReply, text)
	}
	require.Equal(t, EntryID{2, 0}, EntryID{1, math.MaxUint64}.Next())
	require.Equal(t, EntryID{math.MaxUint64, math.MaxUint64}, EntryID{math.MaxUint64, math.MaxUint64}.Next())
	rapid.Check(t, func(t *rapid.T) {
		id := EntryID{rapid.Uint64().Draw(t, "ms"), rapid.Uint64Range(0, math.MaxUint64-1).Draw(t, "seq")}
		again, err := ParseEntryID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, again)
		require.Negative(t, id.Compare(id.Next()))
		require.Positive(t, id.Next().Compare(id))
		require.Zero(t, id.Compare(again))
	})
}

func TestAMissingKeyIsToldFromOtherErrors(t *testing.T) {
	t.Parallel()
	require.True(t, IsNoKey(reply("ERR no such key")))
	require.True(t, IsNoKey(fmt.Errorf("read: %w", reply("ERR no such key"))))
	for _, err := range []error{nil, ErrReply, reply("LOADING Redis is loading the dataset in memory"), reply("NOGROUP No such key"), fmt.Errorf("ERR no such key")} {
		require.False(t, IsNoKey(err), "%v", err)
	}
}
