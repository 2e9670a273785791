package protocol_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestNames: the rules of the storage design over the list of the reliability design.
// The letters say who takes the name: p stream prefix, g consumer group, m member id.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ name, takes string }{
		"plain":                    {"orders", "pgm"},
		"one letter":               {"a", "pgm"},
		"one digit":                {"7", "pgm"},
		"every character":          {"Az09._@+-", "pgm"},
		"with a colon":             {"a:b", "pm"},
		"looks like a shard key":   {"a:0", "pm"},
		"IPv6 address":             {"fe80::1:2", "pm"},
		"ends in a colon":          {"a:", "m"},
		"metadata":                 {"metadata", "pgm"},
		"groups":                   {"groups", "pgm"},
		"200 bytes":                {strings.Repeat("a", 200), "pgm"},
		"201 bytes":                {strings.Repeat("a", 201), "m"},
		"250 bytes":                {strings.Repeat("a", 250), "m"},
		"251 bytes":                {strings.Repeat("a", 251), ""},
		"512 bytes":                {strings.Repeat("a", 512), ""},
		"64 kB":                    {strings.Repeat("a", 64<<10), ""},
		"own key prefix":           {"redis-stream:coord", "m"},
		"begins as our keys do":    {"redis-stream:coord:a", "m"},
		"begins as our keys do, 2": {"redis-stream:coordinates", "m"},
		"nearly our key prefix":    {"redis-stream:coor", "pm"},
		"our key prefix inside":    {"a:redis-stream:coord", "pm"},
		"empty":                    {"", ""},
		"blank":                    {" ", ""},
		"tab":                      {"\t", ""},
		"space before":             {" a", ""},
		"space behind":             {"a ", ""},
		"space inside":             {"a b", ""},
		"open brace":               {"a{b", ""},
		"closed brace":             {"a}b", ""},
		"braces":                   {"{}", ""},
		"hash tag":                 {"a{b}c", ""},
		"newline":                  {"a\nb", ""},
		"newline behind":           {"a\n", ""},
		"carriage return":          {"a\rb", ""},
		"tab inside":               {"a\tb", ""},
		"NUL":                      {"a\x00b", ""},
		"escape":                   {"a\x1b[0m", ""},
		"DEL":                      {"a\x7f", ""},
		"encoded slash":            {"a%2Fb", ""},
		"twice encoded slash":      {"a%252Fb", ""},
		"parent":                   {"..", ""},
		"here":                     {".", ""},
		"dots inside":              {"a..b", "pgm"},
		"slash":                    {"a/b", ""},
		"backslash":                {`a\b`, ""},
		"semicolon":                {"a;b", ""},
		"question mark":            {"a?b", ""},
		"number sign":              {"a#b", ""},
		"asterisk":                 {"a*", ""},
		"pattern":                  {"[a]", ""},
		"quote":                    {`a"b`, ""},
		"colon first":              {":a", ""},
		"colon only":               {":", ""},
		"dash first":               {"-a", ""},
		"at sign first":            {"@a", ""},
		"emoji":                    {"a🚚", ""},
		"emoji first":              {"🚚", ""},
		"right-to-left mark":       {"a\u200fb", ""},
		"right-to-left override":   {"a\u202eb", ""},
		"zero-width space":         {"a\u200bb", ""},
		"no-break space":           {"a\u00a0b", ""},
		"NFC":                      {"caf\u00e9", ""},
		"NFD":                      {"cafe\u0301", ""},
		"fullwidth letter":         {"ａ", ""},
		"Kelvin sign":              {"a\u212a", ""},
		"line separator":           {"a\u2028b", ""},
		"invalid UTF-8":            {"a\xff", ""},
		"BOM":                      {"\ufeffa", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for who, check := range checks() {
				err := check(test.name)
				if strings.Contains(test.takes, who) {
					require.NoError(t, err, who)
					continue
				}
				require.ErrorIs(t, err, protocol.ErrInvalidName, who)
				require.Less(t, len(err.Error()), 512, "input is echoed at most 64 characters")
				require.NotContains(t, err.Error(), strings.Repeat("a", 65))
				for _, r := range err.Error() {
					require.True(t, unicode.IsPrint(r), "the input is escaped: %q", err)
				}
			}
		})
	}
}

func checks() map[string]func(string) error {
	return map[string]func(string) error{
		"p": func(name string) error { return protocol.CheckStreamPrefix(name, protocol.DefaultKeyPrefix) },
		"g": protocol.CheckConsumerGroup,
		"m": protocol.CheckMemberID,
	}
}

func TestOwnKeyPrefixIsConfigurable(t *testing.T) {
	t.Parallel()
	require.NoError(t, protocol.CheckStreamPrefix("redis-stream:coord:a", "rsc"))
	require.ErrorIs(t, protocol.CheckStreamPrefix("rsc:a", "rsc"), protocol.ErrInvalidName)
	require.NoError(t, protocol.CheckStreamPrefix("rsc:a", ""), "stored names are checked without it")
}

// TestAcceptedNamesNeverHoldWhatBreaksKeys, and a key is always split the same way.
func TestAcceptedNamesNeverHoldWhatBreaksKeys(t *testing.T) {
	t.Parallel()
	nearly := rapid.StringMatching(`[A-Za-z0-9._:@+{} \-]{1,6}`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-z0-9][a-z._:@+-]{0,5}`), nearly, rapid.String()).Draw(t, "name")
		for who, check := range checks() {
			if check(name) != nil {
				continue
			}
			require.NotEmpty(t, name)
			require.LessOrEqual(t, len(name), protocol.MaxMemberID)
			for _, r := range name {
				require.False(t, unicode.IsSpace(r) || unicode.IsControl(r) || r >= utf8.RuneSelf, "%q", name)
			}
			require.False(t, strings.ContainsAny(name, `{}%/\*?[]"'`), "%q", name)
			require.False(t, who == "g" && strings.Contains(name, ":"), "a key splits at its last colon")
			require.False(t, who == "p" && strings.HasSuffix(name, ":"))
		}
	})
}

func TestEchoIsShortAndStaysValidUTF8(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"": "", "short": "short",
		strings.Repeat("x", 64):              strings.Repeat("x", 64),
		strings.Repeat("x", 65):              strings.Repeat("x", 64),
		strings.Repeat("x", 63) + "é":        strings.Repeat("x", 63),
		strings.Repeat("x", 61) + "🚚 behind": strings.Repeat("x", 61),
		strings.Repeat("x", 60) + "🚚 behind": strings.Repeat("x", 60) + "🚚",
	} {
		require.Equal(t, want, protocol.Echo(input), input)
	}
	rapid.Check(t, func(t *rapid.T) {
		input := rapid.String().Draw(t, "input") + rapid.StringN(0, 40, -1).Draw(t, "more")
		echo := protocol.Echo(input)
		require.LessOrEqual(t, len(echo), protocol.MaxEcho)
		require.True(t, utf8.ValidString(echo))
		require.True(t, strings.HasPrefix(input, echo))
		require.False(t, len(input) <= protocol.MaxEcho && echo != input)
		require.True(t, utf8.ValidString(protocol.Echo(strings.Repeat("x", 70)+"\xff")))
	})
}
