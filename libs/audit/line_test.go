package audit_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
)

func TestALineOfALogIsReadBack(t *testing.T) {
	t.Parallel()
	records, _ := build(t, "run", "a\n\u2028b")
	line, err := audit.Line(records[0])
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(line, []byte("\n")))
	for _, given := range [][]byte{line, bytes.TrimSpace(line), append([]byte("2026-01-02T03:04:05Z stdout F "), line...)} {
		got, found, err := audit.ParseLine(given)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, records[0], got)
	}
}

func TestOtherLinesAreNoneOfTheAudit(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "x", `{"msg":"request","path":"/"}`, `{"msg":"x","text":"{\"msg\":\"audit\",\"audit\":{}}"}`,
		`{"a":1}{"msg":"audit","audit":{}}`, `who="{" {"msg":"audit","audit":{}}`,
	} {
		_, found, err := audit.ParseLine([]byte(line))
		require.NoError(t, err, line)
		require.False(t, found, line)
	}
}

func TestALineThatWasTouchedIsToldApartFromATornOne(t *testing.T) {
	t.Parallel()
	records, _ := build(t, "run", "a")
	line, err := audit.Line(records[0])
	require.NoError(t, err)
	for name, touch := range map[string]func([]byte) []byte{
		"a second field that a reader of the raw line may take": func(l []byte) []byte {
			return bytes.Replace(l, []byte(`"kind":`), []byte(`"kind":"INTENT","kind":`), 1)
		},
		"a field more":   func(l []byte) []byte { return bytes.Replace(l, []byte(`}}`), []byte(`,"x":1}}`), 1) },
		"a blank":        func(l []byte) []byte { return bytes.Replace(l, []byte(`,"chain"`), []byte(`, "chain"`), 1) },
		"text behind it": func(l []byte) []byte { return append(bytes.TrimSpace(l), `{"status":200}`...) },
	} {
		_, found, err := audit.ParseLine(touch(bytes.Clone(line)))
		require.True(t, found, name)
		require.ErrorIs(t, err, audit.ErrForm, name)
	}
	for cut := range line[:len(line)-2] {
		_, found, err := audit.ParseLine(line[:cut])
		if found {
			require.Error(t, err, cut)
		}
	}
}
