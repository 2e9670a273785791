package show_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

func TestWhatIsNotPrintableIsEscaped(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "orders:eu+1@x": "orders:eu+1@x", "zwölf 日本": "zwölf 日本",
		"a\x1b[2Jb": `a\x1b[2Jb`, "a\nb\tc\r": `a\nb\tc\r`, "\x00\x7f": `\x00\x7f`, "\u009b2J": `\u009b2J`,
		"a\u202eb": `a\u202eb`, "\u2028": `\u2028`, "\xff\xfea": `\xff\xfea`, "\uFFFD": `\ufffd`, "\U000e0001": `\U000e0001`,
	} {
		require.Equal(t, want, show.Text(in))
	}
}

func TestNothingThatIsPrintedCanSteerATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := string(rapid.SliceOf(rapid.Byte()).Draw(t, "given"))
		var out bytes.Buffer
		page := show.NewPage(&out, false)
		page.Line("reason %s", given)
		page.Table([]string{given}, [][]string{{given}}, "none")
		page.Fields("reason", given)
		for line := range bytes.Lines(out.Bytes()) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			requirePrintable(t, string(line))
		}
		require.Equal(t, 4, bytes.Count(out.Bytes(), []byte("\n")))
	})
}

func requirePrintable(t require.TestingT, text string) {
	for _, r := range text {
		require.True(t, unicode.IsPrint(r), "%q of %q", r, text)
	}
}

func TestJSONMeansTheSameAndCannotSteerATerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.String().Draw(t, "given")
		var out bytes.Buffer
		require.NoError(t, show.JSONLine(&out, map[string]string{"name": given}))
		requirePrintable(t, string(bytes.TrimSuffix(out.Bytes(), []byte("\n"))))
		var back map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, given, back["name"])
	})
}

func TestTablesAlign(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	page := show.NewPage(&out, false)
	page.Table([]string{"STREAM", "SHARDS"}, [][]string{{"orders-of-europe", "4"}, {"ö", "12"}}, "no streams")
	page.Table([]string{"STREAM"}, nil, "no streams")
	page.Fields("state", "STABLE", "shard count", "4")
	require.NoError(t, page.Err())
	require.Equal(t, ""+
		"STREAM             SHARDS\n"+
		"orders-of-europe   4\n"+
		"ö                  12\n"+
		"no streams\n"+
		"state:        STABLE\n"+
		"shard count:  4\n", out.String())
}

func TestStatesHaveColoursWhereColoursAreWanted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	show.NewPage(&out, true).Table([]string{"STATE", "N"}, [][]string{{"STABLE", "1"}, {"other", "2"}}, "")
	require.Equal(t, "\x1b[2mSTATE \x1b[0m   \x1b[2mN\x1b[0m\n\x1b[32mSTABLE\x1b[0m   1\nother    2\n", out.String())
}

func TestRangesFoldNeighbours(t *testing.T) {
	t.Parallel()
	for want, in := range map[string][]int{
		"-": nil, "3": {3}, "0-3,7": {7, 1, 0, 3, 2}, "0,2,4-5": {0, 2, 5, 4, 4},
	} {
		require.Equal(t, want, show.Ranges(in))
	}
}

type broken struct{ writes int }

func (b *broken) Write([]byte) (int, error) {
	b.writes++
	return 0, errors.New("no space left")
}

func TestAPageStopsAtTheFirstErrorOfItsWriter(t *testing.T) {
	t.Parallel()
	var w broken
	page := show.NewPage(&w, false)
	page.Line("one")
	page.Line("two")
	require.ErrorContains(t, page.Err(), "no space left")
	require.Equal(t, 1, w.writes)
	require.Error(t, show.JSON(&w, 1))
}
