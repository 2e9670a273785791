package board_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"
)

func dashboard(panels ...board.Panel) board.Dashboard {
	return board.Dashboard{
		UID: "a", Title: "A", Description: "Shows a.", Variables: board.Sources(),
		Sections: []board.Section{{Title: "First", Panels: panels}, {Title: "Second", Panels: panels}},
	}
}

type laid struct {
	ID      int
	Type    string
	GridPos struct{ X, Y, W, H int }
}

func panels(t require.TestingT, d board.Dashboard) []laid {
	text, err := d.Text()
	require.NoError(t, err)
	var in struct{ Panels []laid }
	require.NoError(t, json.Unmarshal(text, &in))
	return in.Panels
}

// No two panels share a place, none sticks out of the grid, and each has its own id.
func TestPanelsLieBesideOneAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var some []board.Panel
		for range rapid.IntRange(1, 12).Draw(t, "panels") {
			some = append(some, board.Stat("S", board.Count, "up", "Shows s.").
				Wide(rapid.IntRange(1, 24).Draw(t, "width"), rapid.IntRange(1, 9).Draw(t, "height")))
		}
		taken, ids := map[[2]int]int{}, map[int]bool{}
		for _, one := range panels(t, dashboard(some...)) {
			require.False(t, ids[one.ID])
			ids[one.ID] = true
			require.LessOrEqual(t, one.GridPos.X+one.GridPos.W, 24)
			for x := one.GridPos.X; x < one.GridPos.X+one.GridPos.W; x++ {
				for y := one.GridPos.Y; y < one.GridPos.Y+one.GridPos.H; y++ {
					require.Zero(t, taken[[2]int{x, y}])
					taken[[2]int{x, y}] = one.ID
				}
			}
		}
	})
}

func TestWhatIsIncompleteIsRefused(t *testing.T) {
	t.Parallel()
	rows := board.Rows{Path: "/rows", Columns: []board.Column{{Field: "a", Title: "A", Unit: board.Text}}}
	for name, panel := range map[string]board.Panel{
		"no title":           board.Stat("", board.Count, "up", "Shows."),
		"no sentence":        board.Stat("S", board.Count, "up", ""),
		"no unit":            board.Stat("S", "", "up", "Shows."),
		"no expression":      board.Stat("S", board.Count, "", "Shows."),
		"too wide":           board.Stat("S", board.Count, "up", "Shows.").Wide(25, 1),
		"no question":        board.Graph("G", board.Count, "Shows."),
		"no legend":          board.Graph("G", board.Count, "Shows.", board.Ask{Expr: "up"}),
		"no rows":            {Kind: board.KindTable, Title: "T", Says: "Shows.", Unit: board.Count, Width: 1, Height: 1},
		"both":               {Kind: board.KindTable, Title: "T", Says: "Shows.", Unit: board.Count, Width: 1, Height: 1, Rows: &rows, Asks: []board.Ask{{Expr: "up"}}},
		"no columns":         board.Table("T", "Shows.", board.Rows{Path: "/rows"}),
		"a host in the path": board.Table("T", "Shows.", board.Rows{Path: "http://host/rows", Columns: rows.Columns}),
		"a nameless column":  board.Table("T", "Shows.", board.Rows{Path: "/rows", Columns: []board.Column{{Field: "a", Unit: board.Text}}}),
	} {
		_, err := dashboard(panel).Text()
		require.Error(t, err, name)
	}
	_, err := dashboard(board.Table("T", "Shows.", rows)).Text()
	require.NoError(t, err)
	_, err = board.Dashboard{Title: "A", Description: "Shows a."}.Text()
	require.ErrorContains(t, err, "uid")
}

func TestTheSameDashboardIsTheSameText(t *testing.T) {
	t.Parallel()
	d := dashboard(board.Graph("G", board.Seconds, "Shows <g> & more.", board.Ask{Expr: "a > b", Legend: "{{a}}"}).From(1, 2))
	d.Variables = append(d.Variables, board.Choice("c", "C", "x", "y"), board.Input("i", "I"), board.Labels("l", "L", "m", "n"))
	first, err := d.Text()
	require.NoError(t, err)
	for range 10 {
		again, err := d.Text()
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
	require.Contains(t, string(first), "Shows <g> & more.")
}

// An entry for all is added to a copy.
func TestAVariableWithAllLeavesTheOtherAsItWas(t *testing.T) {
	t.Parallel()
	plain := board.Options("shard", "Shard", "/options")
	all := plain.AndAll(".*")
	d := dashboard(board.Stat("S", board.Count, "up", "Shows s."))
	d.Variables = []board.Variable{plain}
	text, err := d.Text()
	require.NoError(t, err)
	require.NotContains(t, string(text), "allValue")
	d.Variables = []board.Variable{all}
	text, err = d.Text()
	require.NoError(t, err)
	require.Contains(t, string(text), `"allValue": ".*"`)
}
