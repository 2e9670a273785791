package httpx_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

type parcel struct {
	Name   string     `json:"name"`
	Weight int64      `json:"weight"`
	Box    box        `json:"box"`
	Note   *string    `json:"note,omitempty"`
	Fast   bool       `json:"fast,omitempty"`
	Items  []box      `json:"items"`
	Tags   []string   `json:"tags"`
	SentAt *time.Time `json:"sentAt"`
	Spare  int8       `json:"spare"`
	hidden string
}

type box struct {
	Side int `json:"side"`
}

const smallest = `{"name":"a","weight":1,"box":{"side":2}}`

func decodeParcel(body string) (parcel, error) {
	return httpx.NewDecoder[parcel]("spare").Decode([]byte(body))
}

// with puts a member more into the smallest body.
func with(member string) string { return strings.TrimSuffix(smallest, "}") + "," + member + "}" }

func TestDecoderFillsWhatIsThere(t *testing.T) {
	t.Parallel()
	got, err := decodeParcel(` {
		"name" : "aé\ud83d\ude00" , "weight":-0,"unknown":{"a":[1,{"b":null}],"c":"\n"},
		"box":{"side":-7,"Side":1,"else":1e400}, "note":"n", "fast":true,
		"items":[{"side":1},{"side":2},{"side":3},{"side":4},{"side":5}, {"side":6}],
		"tags":["x"], "sentAt":"2026-01-02T03:04:05.678Z", "spare": 127 } `)
	require.NoError(t, err)
	note, sent := "n", time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	require.Equal(t, parcel{
		Name: "aé😀", Box: box{Side: -7}, Note: &note, Fast: true,
		Items: []box{{1}, {2}, {3}, {4}, {5}, {6}}, Tags: []string{"x"}, SentAt: &sent, Spare: 127,
	}, got)
	require.Empty(t, got.hidden)
}

func TestDecoderTakesNullOnlyForPointersAndLists(t *testing.T) {
	t.Parallel()
	got, err := decodeParcel(with(`"note":null,"items":null,"sentAt":null,"unknown":null`))
	require.NoError(t, err)
	require.Equal(t, parcel{Name: "a", Weight: 1, Box: box{Side: 2}}, got)
}

func TestDecoderRefuses(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string {
		return with(`"deep":` + strings.Repeat("[", levels) + strings.Repeat("]", levels))
	}
	tests := map[string]struct{ body, says string }{
		"nothing":                   {"", "body is empty"},
		"white space":               {" \n", "not valid JSON"},
		"null":                      {"null", "body must not be null"},
		"list at top":               {"[]", "body must be an object"},
		"text at top":               {`"a"`, "body must be an object"},
		"number at top":             {"5", "body must be an object"},
		"flag at top":               {"true", "body must be an object"},
		"truncated":                 {smallest[:20], "not valid JSON"},
		"trailing text":             {smallest + "x", "not valid JSON"},
		"a second object":           {smallest + smallest, "not valid JSON"},
		"BOM":                       {"\ufeff" + smallest, "not valid JSON"},
		"UTF-16":                    {"\xff\xfe{\x00}\x00", "not valid UTF-8"},
		"invalid UTF-8":             {"{\"name\":\"\xc3\x28\"}", "not valid UTF-8"},
		"invalid UTF-8 in unknown":  {with("\"x\":\"\xff\""), "not valid UTF-8"},
		"raw NUL":                   {with("\"x\":\"\x00\""), "not valid JSON"},
		"NaN":                       {`{"name":"a","weight":NaN,"box":{"side":2}}`, "not valid JSON"},
		"missing text":              {`{"weight":1,"box":{"side":2}}`, "name is missing"},
		"missing in object":         {`{"name":"a","weight":1,"box":{}}`, "box.side is missing"},
		"missing in list":           {with(`"items":[{"side":1},{}]`), "items[1].side is missing"},
		"key in other case":         {strings.Replace(smallest, "name", "Name", 1), "name is missing"},
		"null text":                 {`{"name":null,"weight":1,"box":{"side":2}}`, "name must not be null"},
		"null number":               {with(`"spare":null`), "spare must not be null"},
		"null flag":                 {with(`"fast":null`), "fast must not be null"},
		"null object":               {`{"name":"a","weight":1,"box":null}`, "box must not be null"},
		"null in list":              {with(`"items":[null]`), "items[0] must not be null"},
		"duplicate":                 {with(`"name":"b"`), `body has the key "name" twice`},
		"duplicate by escape":       {with(`"n\u0061me":"b"`), `body has the key "name" twice`},
		"duplicate of equal value":  {with(`"weight":1`), `body has the key "weight" twice`},
		"duplicate unknown":         {with(`"x":1,"x":1`), `body has the key "x" twice`},
		"duplicate below unknown":   {with(`"x":[{"y":1,"y":2}]`), `body has the key "y" twice`},
		"duplicate in list":         {with(`"items":[{"side":1,"side":1}]`), `items[0] has the key "side" twice`},
		"text for number":           {with(`"spare":"1"`), "spare must be a whole number"},
		"number for text":           {`{"name":1,"weight":1,"box":{"side":2}}`, "name must be a string"},
		"number for flag":           {with(`"fast":1`), "fast must be true or false"},
		"flag for number":           {with(`"spare":true`), "spare must be a whole number"},
		"flag for text":             {with(`"tags":[true]`), "tags[0] must be a string"},
		"object for list":           {with(`"items":{}`), "items must be a list"},
		"list for object":           {`{"name":"a","weight":1,"box":[]}`, "box must be an object"},
		"text for list":             {with(`"items":"a"`), "items must be a list"},
		"number for time":           {with(`"sentAt":5`), "sentAt must be a string"},
		"no time":                   {with(`"sentAt":"yesterday"`), `sentAt has no valid form: "yesterday"`},
		"float":                     {with(`"spare":1.0`), "spare is no whole number in range: 1.0"},
		"exponent":                  {with(`"spare":1e1`), "spare is no whole number in range: 1e1"},
		"1e400":                     {with(`"spare":1e400`), "spare is no whole number in range"},
		"over the type":             {with(`"spare":128`), "spare is no whole number in range: 128"},
		"2^63":                      {`{"name":"a","weight":9223372036854775808,"box":{"side":2}}`, "weight is no whole number"},
		"lone high surrogate":       {with(`"tags":["\ud800"]`), "tags[0] has a surrogate"},
		"lone low surrogate":        {with(`"tags":["\udc00x"]`), "tags[0] has a surrogate"},
		"high before text":          {with(`"tags":["\uD83Dx"]`), "tags[0] has a surrogate"},
		"high before other escape":  {with(`"tags":["\ud83d\n"]`), "tags[0] has a surrogate"},
		"two highs":                 {with(`"tags":["\ud83d\ud83d"]`), "tags[0] has a surrogate"},
		"lone surrogate in unknown": {with(`"x":"\ud800"`), "body has a surrogate"},
		"lone surrogate in key":     {with(`"\ud800":1`), "body has a surrogate"},
		"nested 33 deep":            {deep(httpx.MaxDepth), "nests deeper than 32"},
		"nested objects":            {with(`"x":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)), "nests deeper than 32"},
		"nested 10,000 deep":        {deep(10_000), "body"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decodeParcel(test.body)
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, protocol.CodeInvalidRequest, refusal.Code)
			require.Contains(t, refusal.Message, test.says)
			require.Zero(t, got, "a refused body must leave nothing behind")
		})
	}
	_, err := decodeParcel(deep(httpx.MaxDepth - 1))
	require.NoError(t, err, "32 levels are allowed")
}

func TestDecoderEchoesAtMost64Bytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 5000)
	for _, body := range []string{
		with(fmt.Sprintf(`%q:1,%q:2`, long, long)),
		with(`"spare":` + strings.Repeat("7", 5000)),
		with(`"sentAt":"` + long + `"`),
	} {
		_, err := decodeParcel(body)
		require.Error(t, err)
		require.Less(t, len(err.Error()), 200)
	}
}

func TestEscapedSurrogatePairsAndBackslashesPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`\ud83d\ude00`, `\\ud800`, `a\\\"\/\b`, `\uD83D\uDE00x\u0041`, `\\\\`} {
		body := `{"name":"` + text + `","weight":1,"box":{"side":2}}`
		got, err := decodeParcel(body)
		require.NoError(t, err, text)
		var want parcel
		require.NoError(t, json.Unmarshal([]byte(body), &want))
		require.Equal(t, want.Name, got.Name)
	}
}

func TestDecoderSaysThatATypeCannotBeDecoded(t *testing.T) {
	t.Parallel()
	_, err := httpx.NewDecoder[struct {
		Any map[string]int `json:"any"`
	}]().Decode([]byte(`{}`))
	require.ErrorContains(t, err, "field any")
	var refusal *protocol.Error
	require.NotErrorAs(t, err, &refusal, "it is no fault of the caller")
	_, err = httpx.NewDecoder[[]int]().Decode([]byte(`[]`))
	require.ErrorContains(t, err, "not a struct")
}

// FuzzDecoder holds what Decoder takes against encoding/json: whatever it takes, the
// library takes too, and as the same value when it is written out again.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{
		smallest, with(`"items":[{"side":1}],"note":null`), with(`"x":{"y":[true,false,null,1.5e3,"\ud83d\ude00"]}`),
		with(`"Name":"b"`), with(`"sentAt":"2026-01-02T03:04:05Z"`), "null", "[]", `{"name":"\ud800"}`,
	} {
		f.Add([]byte(seed))
	}
	decoder := httpx.NewDecoder[parcel]("spare")
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := decoder.Decode(body)
		if err != nil {
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal)
			return
		}
		require.True(t, json.Valid(body))
		written, err := json.Marshal(got)
		require.NoError(t, err)
		again, err := decoder.Decode(written)
		require.NoError(t, err)
		require.Equal(t, written, mustMarshal(t, again))
	})
}

func mustMarshal(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return data
}
