package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// A page that begins at an id has its record, going either way; the ends of all ids need no
// cursor.
func TestAPageBeginsWithTheRecordOfAnID(t *testing.T) {
	t.Parallel()
	const most = "18446744073709551615"
	for id, want := range map[string][2]string{
		"5-3": {"5-2", "5-4"}, "5-0": {"4-" + most, "5-1"}, "0-0": {"", "0-1"}, "5-" + most: {"5-18446744073709551614", "6-0"},
		most + "-" + most: {most + "-18446744073709551614", ""},
	} {
		parsed, is := parseRecordID(id)
		require.True(t, is)
		require.Equal(t, id, parsed.text())
		require.Equal(t, want, [2]string{parsed.cursorAt(true), parsed.cursorAt(false)}, id)
	}
	for _, id := range []string{"", "1", "-", "1-", "-1", "1-x", "1-0-0", "+1-0", "1-18446744073709551616", "1 -0", "all:1-0.0"} {
		_, is := parseRecordID(id)
		require.False(t, is, id)
	}
}

// JSON is written over several lines, its numbers, order and doubled names as they are; what is
// none, or would get far too long, stays what it is.
func TestJSONIsWrittenOverSeveralLines(t *testing.T) {
	t.Parallel()
	written, is := pretty(` {"b":1e400,"a":[9007199254740993,""],"b":{}} `)
	require.True(t, is)
	require.Equal(t, []string{"{", `  "b": 1e400,`, `  "a": [`, "    9007199254740993,", `    ""`, "  ],", `  "b": {}`, "}"}, strings.Split(written, "\n"))
	half := protocol.MaxMessagePayload / 2
	for _, text := range []string{
		"", "1", `"text"`, "null", "{", "{]", "[1,]", "{a:1}", "[1]x", `{"a":"` + "\n" + `"}`,
		strings.Repeat("[", half) + strings.Repeat("]", half), strings.Repeat("[", 60) + strings.Repeat("1,", half) + "1" + strings.Repeat("]", 60),
		strings.Repeat("}", half), "{" + strings.Repeat(`"\`, half),
	} {
		_, is := pretty(text)
		require.Falsef(t, is, "%.20q", text)
	}
	wide, is := pretty("[" + strings.Repeat("1,", half-1) + "1]")
	require.True(t, is)
	require.LessOrEqual(t, len(wide), maxGrowth*protocol.MaxMessagePayload)
	_, is = pretty(`{"brackets in a text":"` + strings.Repeat(`[{\",`, 10_000) + `"}`)
	require.True(t, is)
}

// A value is no longer on the page than it may be, whatever characters it has, and is cut between
// them.
func TestWhatIsShownOfAValueIsBounded(t *testing.T) {
	t.Parallel()
	for _, char := range []string{"x", "<", "&", `"`, "'", "\x00", "\u202e", "é", "漢", "😀", "\U000e0001", "\xff"} {
		for _, most := range []int{-1, 0, 1, 5, 100, 4096} {
			value, size := visible(strings.Repeat(char, 5000), true, most)
			require.LessOrEqual(t, size, max(most, 0))
			require.True(t, value.Short)
			require.LessOrEqual(t, len(value.Text), size)
			require.NotContains(t, strings.ReplaceAll(value.Text, "\uFFFD", ""), "\x00")
		}
	}
	value, _ := visible("a\tb\nc\rd\u00a0e\u200ff\U000e0041", true, 100)
	require.Equal(t, Value{Text: "a\tb\nc\\u000dd\u00a0e\\u200ff\\U000e0041", Escaped: true}, value)
	value, _ = visible("a\nb", false, 100)
	require.Equal(t, `a\u000ab`, value.Text)
	value, _ = visible("plain שלום", true, 100)
	require.Equal(t, Value{Text: "plain שלום"}, value)
}

func TestARecordShowsSoManyFieldsAndNoMore(t *testing.T) {
	t.Parallel()
	fields := map[string]string{}
	for i := range 1000 {
		fields[fmt.Sprintf("f%03d", i)] = strings.Repeat("v", 10)
	}
	fields["f000"] = strings.Repeat("p", 1<<20)
	record := protocol.StreamMessageRecord{RecordID: "1-0", Fields: fields}
	list := NewMessages(MessageQuery{}, "/console").OfShard(protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{record}}, "/console")
	require.False(t, list.Whole)
	require.Len(t, list.Records[0].Fields, 100)
	require.Equal(t, 900, list.Records[0].Hidden)
	require.Equal(t, Value{Text: strings.Repeat("p", 4096), Short: true}, list.Records[0].Fields[0].Value)

	fields["f000"] = strings.Repeat("p", protocol.MaxMessagePayload)
	whole := NewMessages(MessageQuery{ID: "1-0"}, "/console").OfShard(protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{record}}, "/console")
	require.True(t, whole.Whole)
	require.Len(t, whole.Records[0].Fields, 1000)
	require.Zero(t, whole.Records[0].Hidden)
	require.Equal(t, Value{Text: fields["f000"]}, whole.Records[0].Fields[0].Value)
}

func TestFieldsOfARowAreReadFromItsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(map[string]string{"a": `{"b":"\u003c"}`, "": "\x00"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": `{"b":"\u003c"}`, "": "\x00"}, fieldsOf(protocol.GrafanaMessageRow{FieldsJSON: string(text), Payload: new("x")}))
	require.Equal(t, map[string]string{"payload": "x"}, fieldsOf(protocol.GrafanaMessageRow{FieldsJSON: "no JSON", Payload: new("x")}))
	require.Empty(t, fieldsOf(protocol.GrafanaMessageRow{}))
}
