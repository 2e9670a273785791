package pages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tableOf is a table of rows; the head is one as well.
func tableOf(rows ...string) string {
	var text strings.Builder
	text.WriteString(`<p>two</p><div class="scroll"><table><thead><tr><th>A</th></tr></thead><tbody>`)
	for _, row := range rows {
		fmt.Fprintf(&text, `<tr class="good"><td>%s</td></tr>`, row)
	}
	return text.String() + "</tbody></table></div>"
}

// P26: what changes of a long table is sent, and not the table.
func TestOnlyRowsThatHaveChangedAreNews(t *testing.T) {
	t.Parallel()
	before, _ := shapeOf(tableOf("a", "b", "c"))
	news := func(html string) ([]rowNews, bool) {
		now, rows := shapeOf(html)
		return now.changed(before, rows)
	}
	changed, only := news(tableOf("a", "B", "c"))
	require.True(t, only)
	require.Equal(t, []rowNews{{2, `<tr class="good"><td>B</td></tr>`}}, changed, "the head counts")
	changed, only = news(tableOf("c", "b", "a"))
	require.True(t, only)
	require.Len(t, changed, 2, "another order is other rows")
	changed, only = news(tableOf("a", "b", "c"))
	require.True(t, only)
	require.Empty(t, changed)
	for _, other := range []string{
		tableOf("a", "b"), tableOf("a", "b", "c", "d"), strings.Replace(tableOf("a", "b", "c"), "two", "three", 1), tableOf("a", "b", "c") + "<p>more</p>", "", "<p>gone</p>",
		"<tr", "<tr></tr><tr",
	} {
		_, only = news(other)
		require.False(t, only, other)
	}
}

func TestWhatHasNoRowsIsSentWhole(t *testing.T) {
	t.Parallel()
	before, rows := shapeOf("<p>1</p>")
	require.Empty(t, rows)
	now, _ := shapeOf("<p>2</p>")
	_, only := now.changed(before, nil)
	require.False(t, only)
	same, _ := shapeOf("<p>1</p>")
	changed, only := same.changed(before, nil)
	require.True(t, only)
	require.Empty(t, changed)
}
