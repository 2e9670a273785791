package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// encoded writes every byte of text as %XX, as the strictest client would.
func encoded(text string) string {
	var out strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&out, "%%%02X", text[i])
	}
	return out.String()
}

// quoted writes text as a JSON string.
func quoted(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	return string(data)
}

// place is a spot of a path where a name stands.
type place struct {
	kind           string // stream, group or member
	method, target string // target has one %s
	body           string
}

func places() []place {
	const (
		streams, groups = base + "/streams/%s", base + "/streams/orders/groups/%s"
		members         = base + "/streams/orders/groups/billing/members/%s"
	)
	scale := mutations()["scale group"].body
	return []place{
		{"stream", "POST", streams, goodCreate},
		{"stream", "GET", streams, ""},
		{"stream", "DELETE", streams, goodCause},
		{"stream", "POST", streams + "/groups/billing", goodCreate},
		{"stream", "POST", streams + "/groups/billing/members/m-1/heartbeat", goodBeat},
		{"stream", "GET", streams + "/groups/billing/producer-routing", ""},
		{"stream", "POST", streams + "/scale", scale},
		{"stream", "POST", streams + "/groups/billing/scale", scale},
		{"stream", "GET", streams + "/groups/billing/migrations/r1", ""},
		{"stream", "POST", streams + "/groups/billing/migrations/r1/rollback", goodCause},
		{"stream", "GET", base + "/monitoring/streams/%s/groups/billing/members", ""},
		{"group", "POST", groups, goodCreate},
		{"group", "GET", groups, ""},
		{"group", "DELETE", groups, goodCause},
		{"group", "GET", groups + "/producer-routing", ""},
		{"group", "GET", groups + "/events", ""},
		{"group", "POST", groups + "/members/m-1/heartbeat", goodBeat},
		{"group", "POST", groups + "/scale", scale},
		{"group", "GET", groups + "/migrations/r1", ""},
		{"group", "POST", groups + "/migrations/r1/rollback", goodCause},
		{"group", "POST", groups + "/migrations/r1/confirm-drain", with(goodCause, `"shardIndex":1`)},
		{"group", "POST", groups + "/barrier", goodCause},
		{"group", "POST", groups + "/members/m-1/fence", goodCause},
		{"group", "GET", base + "/monitoring/streams/orders/groups/%s", ""},
		{"group", "GET", base + "/monitoring/streams/orders/groups/%s/assignments", ""},
		{"group", "GET", base + "/monitoring/streams/orders/groups/%s/migrations", ""},
		{"member", "POST", members + "/heartbeat", goodBeat},
		{"member", "POST", members + "/fence", goodCause},
	}
}

// Reliability section 4, Names: at every place of every path. What cannot stand in a
// request line unencoded is sent encoded only.
func TestMalformedNamesAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name  string
		plain bool // also sent as it is
		only  string
	}{
		"empty":              {"", true, ""},
		"blank":              {" ", false, ""},
		"512 bytes":          {strings.Repeat("n", 512), true, ""},
		"8 kB":               {strings.Repeat("n", 8<<10), true, ""},
		"a byte too long":    {strings.Repeat("n", 201), true, "stream group"},
		"member too long":    {strings.Repeat("n", 251), true, "member"},
		"open brace":         {"{", true, ""},
		"close brace":        {"}", true, ""},
		"braces":             {"{}", true, ""},
		"hash tag":           {"a{b}c", true, ""},
		"colon in group":     {"a:b", true, "group"},
		"index in group":     {"a:0", true, "group"},
		"colon at the end":   {"a:", true, "stream"},
		"colon first":        {":a", true, ""},
		"newline":            {"a\nb", false, ""},
		"newline at the end": {"a\n", false, ""},
		"CR":                 {"a\rb", false, ""},
		"tab":                {"a\tb", false, ""},
		"NUL":                {"a\x00b", false, ""},
		"space before":       {" a", false, ""},
		"space behind":       {"a ", false, ""},
		"encoded slash":      {"a%2Fb", false, ""},
		"encoded twice":      {"a%252Fb", false, ""},
		"percent":            {"100%", false, ""},
		"dots":               {"..", true, ""},
		"dot":                {".", true, ""},
		"dot first":          {".a", true, ""},
		"slash":              {"/", false, ""},
		"slash inside":       {"a/b", false, ""},
		"climbing":           {"../../etc/passwd", false, ""},
		"backslash":          {`a\b`, true, ""},
		"semicolon":          {"a;b", true, ""},
		"question mark":      {"a?b", false, ""},
		"hash":               {"a#b", false, ""},
		"star":               {"*", true, ""},
		"star inside":        {"a*", true, ""},
		"brackets":           {"[a]", true, ""},
		"emoji":              {"a😀", true, ""},
		"right to left":      {"a\u202eb", true, ""},
		"composed (NFC)":     {"caf\u00e9", true, ""},
		"decomposed (NFD)":   {"cafe\u0301", true, ""},
		"invalid UTF-8":      {"a\xff", false, ""},
		"our own keys":       {protocol.DefaultKeyPrefix, true, "stream"},
		"below our own keys": {protocol.DefaultKeyPrefix + ":x", true, "stream"},
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forms := []string{encoded(test.name)}
			if test.plain {
				forms = append(forms, test.name)
			}
			for _, at := range places() {
				if test.only != "" && !strings.Contains(test.only, at.kind) {
					continue
				}
				body := at.body
				if at.body == goodBeat && at.kind == "member" { // or the mismatch alone would be refused
					body = instead(t, body, `"m-1"`, quoted(t, test.name))
				}
				for _, form := range forms {
					got := a.call(t, at.method, fmt.Sprintf(at.target, form), body)
					requireRefusal(t, got, 400, protocol.CodeInvalidRequest, test.name)
				}
			}
		})
	}
}

// What is encoded twice stays one name that is refused; it never climbs or splits.
func TestPathsThatTwoReadersTakeDifferentlyAreRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, target := range []string{
		base + "/streams/a%2Fb", base + "/streams/a%2fb/groups/g", base + "/streams/a%252Fb", base + "/streams/%2e%2e",
		base + "/streams/%2E%2E/groups/g", base + "/streams/..%2f..%2fhealthz", base + "/streams/%252e%252e",
		base + "/streams/a%5Cb", base + "/streams/a%00", base + "/streams/../streams/orders", base + "/streams/./orders",
		base + "//streams/orders", base + "/streams//groups/g", base + "/streams/orders/", base + "/streams/",
		"//coord/v1/streams", "/coord%2Fv1/streams", "/coord%5Cv1/streams", "/coord%2500/streams", "/coord%00/streams", base + "/streams/orders/groups/g/..", "/%2e%2e/healthz", "/healthz/",
	} {
		got := a.call(t, "GET", target, "")
		requireRefusal(t, got, 400, protocol.CodeInvalidRequest, target)
		require.Empty(t, got.header.Get("Location"), "no redirect to a cleaned path")
	}
	require.Empty(t, a.seen())
}

func TestAnEscapeThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, target := range []string{base + "/streams/%zz", base + "/streams/%", base + "/streams/a%2"} {
		require.Equal(t, 400, a.call(t, "GET", target, "").status)
	}
	require.Empty(t, a.seen())
}

func TestANameOf64KilobytesIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, form := range []string{strings.Repeat("n", 64<<10), encoded(strings.Repeat("n", 64<<10))} {
		for _, at := range places() {
			got := a.call(t, at.method, fmt.Sprintf(at.target, form), at.body)
			require.Contains(t, []int{400, 431}, got.status, "by its length, or by that of the head")
			require.NotContains(t, string(got.body), strings.Repeat("n", protocol.MaxEcho+1))
		}
	}
	require.Empty(t, a.seen())
}

func TestValidNamesArriveDecodedOnce(t *testing.T) {
	t.Parallel()
	names := []string{
		"a", "7", "metadata", "groups", "streams", "members", "heartbeat", "a.b_c@d+e-f", "A",
		strings.Repeat("n", 200), "redis-stream",
	}
	withColons := []string{"a:b", "a:0", "orders:eu:1", "fe80:0:0:0:1"}
	for _, at := range places() {
		a := startAPI(t)
		valid := names
		if at.kind != "group" {
			valid = append(append([]string{}, names...), withColons...)
		}
		for _, name := range valid {
			body := at.body
			if at.body == goodBeat && at.kind == "member" {
				body = instead(t, body, `"m-1"`, quoted(t, name))
			}
			for _, form := range []string{name, encoded(name)} {
				got := a.call(t, at.method, fmt.Sprintf(at.target, form), body)
				require.Lessf(t, got.status, 300, "%s %s: %s", at.target, form, got.body)
				require.Contains(t, strings.Split(a.seen()[0], " "), name)
				a.forget()
			}
		}
	}
}
