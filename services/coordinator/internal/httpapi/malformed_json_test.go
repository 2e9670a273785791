package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// utf16 writes ASCII text as UTF-16, little endian, with its mark.
func utf16(text string) string {
	var out strings.Builder
	out.WriteString("\xff\xfe")
	for _, c := range text {
		out.WriteString(string(c) + "\x00")
	}
	return out.String()
}

// Reliability section 4, JSON: every endpoint that reads a body.
func TestMalformedJSONIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		make func(good string) string
		code protocol.Code
	}{
		"empty":                 {func(string) string { return "" }, protocol.CodeInvalidRequest},
		"blank":                 {func(string) string { return " \r\n" }, protocol.CodeInvalidRequest},
		"null":                  {func(string) string { return "null" }, protocol.CodeInvalidRequest},
		"list at top":           {func(good string) string { return "[" + good + "]" }, protocol.CodeInvalidRequest},
		"text at top":           {func(string) string { return `"requestedBy"` }, protocol.CodeInvalidRequest},
		"number at top":         {func(string) string { return "1" }, protocol.CodeInvalidRequest},
		"empty object":          {func(string) string { return "{}" }, protocol.CodeInvalidRequest},
		"truncated":             {func(good string) string { return good[:len(good)-1] }, protocol.CodeInvalidRequest},
		"truncated in a string": {func(good string) string { return good[:len(good)-3] }, protocol.CodeInvalidRequest},
		"trailing text":         {func(good string) string { return good + "x" }, protocol.CodeInvalidRequest},
		"trailing object":       {func(good string) string { return good + good }, protocol.CodeInvalidRequest},
		"trailing comma":        {func(good string) string { return with(good, "") }, protocol.CodeInvalidRequest},
		"comment":               {func(good string) string { return good + "// x" }, protocol.CodeInvalidRequest},
		"single quotes":         {func(good string) string { return strings.ReplaceAll(good, `"`, "'") }, protocol.CodeInvalidRequest},
		"duplicate keys":        {func(good string) string { return strings.TrimSuffix(good, "}") + "," + good[1:] }, protocol.CodeInvalidRequest},
		"duplicate unknown key": {func(good string) string { return with(good, `"x":1,"x":1`) }, protocol.CodeInvalidRequest},
		"duplicate key below":   {func(good string) string { return with(good, `"x":{"y":1,"y":1}`) }, protocol.CodeInvalidRequest},
		"keys in other case":    {strings.ToUpper, protocol.CodeInvalidRequest},
		"first letter upper": {func(good string) string {
			return strings.NewReplacer(`"requestedBy"`, `"RequestedBy"`, `"memberId"`, `"MemberId"`).Replace(good)
		}, protocol.CodeInvalidRequest},
		"depth 33":           {func(good string) string { return with(good, `"x":`+strings.Repeat("[", 32)+strings.Repeat("]", 32)) }, protocol.CodeInvalidRequest},
		"depth 10,000":       {func(string) string { return strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) }, protocol.CodeInvalidRequest},
		"objects 5,000 deep": {func(string) string { return strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000) }, protocol.CodeInvalidRequest},
		"unclosed 30,000":    {func(string) string { return strings.Repeat("[", 30_000) }, protocol.CodeInvalidRequest},
		"NaN text":           {func(good string) string { return with(good, `"x":NaN`) }, protocol.CodeInvalidRequest},
		"Infinity":           {func(good string) string { return with(good, `"x":-Infinity`) }, protocol.CodeInvalidRequest},
		"leading zero":       {func(good string) string { return with(good, `"x":01`) }, protocol.CodeInvalidRequest},
		"BOM":                {func(good string) string { return "\ufeff" + good }, protocol.CodeInvalidRequest},
		"UTF-16":             {utf16, protocol.CodeInvalidRequest},
		"invalid UTF-8":      {func(good string) string { return with(good, "\"x\":\"\xc3\x28\"") }, protocol.CodeInvalidRequest},
		"surrogate in UTF-8": {func(good string) string { return with(good, "\"x\":\"\xed\xa0\x80\"") }, protocol.CodeInvalidRequest},
		"lone surrogate":     {func(good string) string { return with(good, `"x":"\ud800"`) }, protocol.CodeInvalidRequest},
		"surrogates swapped": {func(good string) string { return with(good, `"x":"\udc00\ud800"`) }, protocol.CodeInvalidRequest},
		"raw NUL":            {func(good string) string { return with(good, "\"x\":\"\x00\"") }, protocol.CodeInvalidRequest},
		"raw newline":        {func(good string) string { return with(good, "\"x\":\"\n\"") }, protocol.CodeInvalidRequest},
		"1 MB string":        {func(good string) string { return with(good, `"x":"`+strings.Repeat("s", 1<<20)+`"`) }, protocol.CodePayloadTooLarge},
		"1 M elements":       {func(good string) string { return with(good, `"x":[`+strings.Repeat("1,", 1_000_000)+`1]`) }, protocol.CodePayloadTooLarge},
		"a byte over 256 kB": {func(good string) string { return good + strings.Repeat(" ", 256<<10+1-len(good)) }, protocol.CodePayloadTooLarge},
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for endpoint, taker := range takers() {
		for name, test := range tests {
			t.Run(endpoint+"/"+name, func(t *testing.T) {
				t.Parallel()
				body := test.make(taker.body)
				got := a.call(t, taker.method, taker.target, body)
				requireRefusal(t, got, protocol.FaultOf(test.code).Status, test.code, body)
			})
		}
	}
}

func TestUnknownFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	for endpoint, taker := range takers() {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			a := startAPI(t)
			for _, unknown := range []string{
				`"unknown":1e400`, `"unknown":{"a":[null,true,"\ud83d\ude00"]}`, `"REQUESTEDBY":"x","MemberEpoch":99`,
				`"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31),
			} {
				got := a.call(t, taker.method, taker.target, with(taker.body, unknown))
				require.Lessf(t, got.status, 300, "%s", got.body)
				require.NotEmpty(t, a.seen())
				a.forget()
			}
		})
	}
}

func TestBodyLimitsAreExact(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	limits := map[string]int{"heartbeat": 256 << 10}
	for endpoint, taker := range takers() {
		limit := limits[endpoint]
		if limit == 0 {
			limit = 64 << 10
		}
		full := taker.body + strings.Repeat(" ", limit-len(taker.body))
		got := a.call(t, taker.method, taker.target, full)
		require.Lessf(t, got.status, 300, "%s: %s", endpoint, got.body)
		reached := len(a.seen())
		got = a.call(t, taker.method, taker.target, full+" ")
		requireRefusal(t, got, 413, protocol.CodePayloadTooLarge, "")
		require.Len(t, a.seen(), reached)
	}
}

func TestABodyThatDoesNotSayThatItIsJSONIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, taker := range takers() {
		line, length := taker.method+" "+taker.target+" HTTP/1.1", fmt.Sprintf("Content-Length: %d", len(taker.body))
		for _, heads := range [][]string{
			nil,
			{"Content-Type: text/plain"},
			{"Content-Type: application/x-www-form-urlencoded"},
			{"Content-Type: "},
			{"Content-Type: application/jsonp"},
			{isJSON + "; charset=latin1"},
			{isJSON, "Content-Encoding: gzip"},
		} {
			got := a.raw(t, request(line, taker.body, append([]string{host, length, "Connection: close"}, heads...)...))
			requireRefusal(t, got, 415, protocol.CodeUnsupportedMediaType, "")
		}
	}
	require.Empty(t, a.seen())
}
