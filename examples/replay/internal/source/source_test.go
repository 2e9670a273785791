package source_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
)

// write returns the path of a file of the given name and content.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// read returns the records as "seq key=data" and the error that ended them.
func read(src source.Source) ([]string, error) {
	var got []string
	for record, err := range src.Records() {
		if err != nil {
			return got, err
		}
		got = append(got, fmt.Sprintf("%d %s=%s", record.Seq, record.Key, record.Data))
	}
	return got, nil
}

func TestRecordsOfEachFormatHaveTheirNumberAndKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file, content, key string
		format             source.Format
		want               []string
	}{
		"a field of NDJSON": {
			file: "a", format: source.NDJSON, key: "id", content: "{\"id\":\"x\",\"n\":1}\n\n{\"id\":7}\n{\"n\":3}\n",
			want: []string{`1 x={"id":"x","n":1}`, `2 7={"id":7}`, `3 ={"n":3}`},
		},
		"the last line without an end": {
			file: "a", format: source.NDJSON, key: "id", content: `{"id":"x"}`,
			want: []string{`1 x={"id":"x"}`},
		},
		"a column of CSV": {
			file: "a", format: source.CSV, key: "who", content: "n,who,what\n1,ann,\"a, b\"\n2,bob,\"two\nlines\"\n3\n",
			want: []string{`1 ann=1,ann,"a, b"`, "2 bob=2,bob,\"two\nlines\"", `3 =3`},
		},
		"the first column behind a byte order mark": {
			file: "a", format: source.CSV, key: "n", content: "\ufeffn,who\n1,ann\n",
			want: []string{`1 1=1,ann`},
		},
		"CSV of a header alone": {file: "a", format: source.CSV, key: "n", content: "n,who\n"},
		"an empty CSV":          {file: "a", format: source.CSV, key: "n", content: ""},
		"a word of each line": {
			file: "a", format: source.Lines, key: "2", content: "one two three\r\n  a\tb\n\nalone\n",
			want: []string{"1 two=one two three", "2 b=  a\tb", "3 =", "4 =alone"},
		},
		"an empty file": {file: "a", format: source.Lines, key: "1", content: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := source.File(write(t, tc.file, tc.content), tc.format, tc.key)
			require.NoError(t, err)
			got, err := read(src)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestFormatIsFoundByNameAndThenByTheFirstLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		file, content string
		want          source.Format
	}{
		{"a.ndjson", "", source.NDJSON},
		{"a.JSONL", "text", source.NDJSON},
		{"a.csv", "{}", source.CSV},
		{"a.txt", "\n \n{\"a\":1}\n", source.NDJSON},
		{"a.txt", "{not json}\n", source.Lines},
		{"a", "plain\n{\"a\":1}\n", source.Lines},
		{"empty", "", source.Lines},
	} {
		src, err := source.File(write(t, tc.file, tc.content), source.Auto, "")
		require.NoError(t, err)
		require.Equal(t, tc.want, src.Format(), "%s with %q", tc.file, tc.content)
	}
}

func TestRecordsWithoutAKeyAreSpreadByTheirText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		format  source.Format
		content string
	}{
		{source.Lines, "same\nother\nsame\n"},
		{source.NDJSON, "{\"a\":1}\n{\"a\":2}\n{\"a\":1}\n"},
		{source.CSV, "a\n1\n2\n1\n"},
	} {
		src, err := source.File(write(t, "a", tc.content), tc.format, "")
		require.NoError(t, err)
		var keys []string
		for record, err := range src.Records() {
			require.NoError(t, err)
			keys = append(keys, record.Key)
		}
		require.Len(t, keys, 3)
		require.Equal(t, keys[0], keys[2], "%s: the same text", tc.format)
		require.NotEqual(t, keys[0], keys[1], "%s: another text", tc.format)
	}
}

func TestContentThatCannotBeReadIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content, key string
		format       source.Format
		want         error
		text         string
	}{
		"no JSON":               {"{\"id\":1}\n[1]\n", "id", source.NDJSON, source.ErrFormat, "line 2"},
		"no field":              {"{\"a\":1}\n", "id", source.NDJSON, source.ErrNoKey, `no field "id"`},
		"no column":             {"a,b\n1,2\n", "id", source.CSV, source.ErrNoKey, `no column "id"`},
		"an open quote":         {"a,b\n\"1,2\n", "a", source.CSV, source.ErrFormat, "line 2"},
		"a word that is a name": {"a b\n", "id", source.Lines, source.ErrNoKey, `not "id"`},
		"word 0":                {"a b\n", "0", source.Lines, source.ErrNoKey, `not "0"`},
		"a line that is too long": {
			"ok\n" + strings.Repeat("x", source.MaxRecord+1), "1", source.Lines, bufio.ErrTooLong, "line 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := source.File(write(t, "a", tc.content), tc.format, tc.key)
			require.NoError(t, err)
			_, err = read(src)
			require.ErrorIs(t, err, tc.want)
			require.ErrorContains(t, err, tc.text)
			_, err = src.Scan()
			require.ErrorIs(t, err, tc.want)
		})
	}
}

func TestAMissingFileIsAnErrorWhereverItIsOpened(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nowhere")
	_, err := source.File(path, source.Auto, "")
	require.ErrorIs(t, err, os.ErrNotExist)
	src, err := source.File(path, source.Lines, "")
	require.NoError(t, err)
	_, err = read(src)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = src.Scan()
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestScanTellsWhatTheRecordsAre(t *testing.T) {
	t.Parallel()
	src, err := source.File(write(t, "a", "a 1\nb 2\na 3\n"), source.Lines, "1")
	require.NoError(t, err)
	sum, err := src.Scan()
	require.NoError(t, err)
	require.Equal(t, source.Summary{
		Records: 3, Keys: 2, Bytes: 12,
		// printf 'a 1\nb 2\na 3\n' | sha256sum
		SHA256: "45196d8577d0584866a8f737f4ce455e2967df5d478ceeee10b3dacfca1f8411",
	}, sum)
}

func TestTheSameSeedGeneratesTheSameBytes(t *testing.T) {
	t.Parallel()
	first, err := source.Generated(10_000, 1).Scan()
	require.NoError(t, err)
	again, err := source.Generated(10_000, 1).Scan()
	require.NoError(t, err)
	other, err := source.Generated(10_000, 2).Scan()
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotEqual(t, first.SHA256, other.SHA256)
	require.EqualValues(t, 10_000, first.Records)
	require.Greater(t, first.Keys, int64(500), "there is something to spread")
	require.Less(t, first.Keys, int64(5_001), "and keys with several records")
}

func TestUnknownFormatsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := source.ParseFormat("xml")
	require.ErrorIs(t, err, source.ErrFormat)
	for _, name := range []string{"auto", "ndjson", "csv", "lines"} {
		format, err := source.ParseFormat(name)
		require.NoError(t, err)
		require.Equal(t, name, string(format))
	}
}
