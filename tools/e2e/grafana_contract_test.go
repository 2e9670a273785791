package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// original is what the dashboards of the original server ask, as the contract lists it.
type original struct {
	requests []query.Request
	// metrics are the names that PromQL reads, with the labels that it selects or shows.
	metrics map[string][]string
}

// The lines of the contract's chapter on dashboards.
var (
	originalTitle  = regexp.MustCompile(`^### (\S+\.json)$`)
	originalPanel  = regexp.MustCompile("^\\* (?:[^`]*: )?GET `(/coord/[^`]+)`(.*)$")
	originalChoice = regexp.MustCompile("^\\* `(\\w+)`: GET `(/coord/[^`]+)`, columns (.*)$")
	originalMetric = regexp.MustCompile("^\\* `(redis_stream_coord_\\w+)`(?:: (.*))?$")
	originalQuery  = regexp.MustCompile("^ with `((?:\\w+=[^`]*))`$")
	originalColumn = regexp.MustCompile("`(\\w+)`(?: (string|number|time))?")
)

// readOriginal parses the contract's tables.
func readOriginal(t *testing.T) original {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "contract", "metric-names.md"))
	require.NoError(t, err)
	_, chapter, found := strings.Cut(string(text), "\n## Dashboards\n")
	require.True(t, found)
	chapter, _, _ = strings.Cut(chapter, "\n## Smallest set")
	out := original{metrics: map[string][]string{}}
	dashboard := ""
	lines := strings.Split(chapter, "\n")
	for i, line := range lines {
		if title := originalTitle.FindStringSubmatch(line); title != nil {
			dashboard = title[1]
		}
		if metric := originalMetric.FindStringSubmatch(line); metric != nil {
			out.metrics[metric[1]] = append(out.metrics[metric[1]], names(columnsOf(metric[2]))...)
		}
		if choice := originalChoice.FindStringSubmatch(line); choice != nil {
			out.requests = append(out.requests, query.Request{
				Dashboard: dashboard, Panel: "$" + choice[1], Path: choice[2], Columns: columnsOf(choice[3]),
			})
		}
		panel := originalPanel.FindStringSubmatch(line)
		if panel == nil {
			continue
		}
		require.Less(t, i+1, len(lines))
		request := query.Request{Dashboard: dashboard, Path: panel[1], Columns: columnsOf(lines[i+1])}
		switch with := originalQuery.FindStringSubmatch(panel[2]); {
		case with != nil:
			request.Path += "?" + with[1]
		case strings.Contains(panel[2], "both empty here"):
			request.Path += "?streamPrefix=&consumerGroup="
		case strings.Contains(panel[2], "`streamPrefix`"):
			request.Path += "?streamPrefix=$streamPrefix&consumerGroup=$consumerGroup"
		}
		if strings.HasPrefix(strings.TrimSpace(line), "* Shard buttons") { // its fields are on the line itself
			_, fields, _ := strings.Cut(line, "fields ")
			request.Columns = columnsOf(fields)
		}
		out.requests = append(out.requests, request)
	}
	return out
}

// columnsOf reads names in code quotes, with a type where one follows.
func columnsOf(text string) []query.Column {
	if _, fields, is := strings.Cut(text, "Fields: "); is {
		text = fields
	}
	var columns []query.Column
	for _, one := range originalColumn.FindAllStringSubmatch(text, -1) {
		columns = append(columns, query.Column{Field: one[1], Type: one[2]})
	}
	return columns
}

func names(columns []query.Column) []string {
	var all []string
	for _, column := range columns {
		all = append(all, column.Field)
	}
	return all
}

func TestTheTablesOfTheContractAreReadInFull(t *testing.T) {
	t.Parallel()
	read := readOriginal(t)
	byDashboard, columns := map[string]int{}, 0
	for _, request := range read.requests {
		byDashboard[request.Dashboard]++
		columns += len(request.Columns)
		require.NotEmpty(t, request.Columns, "%s: %s", request.Dashboard, request.Path)
	}
	require.Equal(t, map[string]int{
		"redis-stream-coordinator.json":               3,
		"redis-stream-coordinator-stream-detail.json": 9,
		"redis-stream-coordinator-api.json":           2,
		"redis-stream-coordinator-public.json":        2,
	}, byDashboard)
	require.Greater(t, columns, 150)
	require.Len(t, read.metrics, 14)
	require.Contains(t, read.metrics["redis_stream_coord_shard_lag"], "shard")
}

// The URLs and columns of the original's dashboards are answered, so that they keep working
// (metric names, Dashboards).
func theOriginalIsAnswered(p *pictured) {
	t := p.t
	chosen := map[string]string{"streamPrefix": demoStream, "consumerGroup": demoGroup}
	for _, request := range readOriginal(t).requests {
		path, missing := query.Fill(request.Path, chosen)
		require.Empty(t, missing)
		for _, row := range p.untyped(path, request.Columns) {
			for _, name := range []string{"memoryUsageKnown"} {
				if value, has := row[name]; has {
					require.IsType(t, true, value)
				}
			}
		}
	}
}

// untyped checks columns of which some have no type; it returns the rows, at least one.
func (p *pictured) untyped(path string, columns []query.Column) []map[string]any {
	p.t.Helper()
	var typed []query.Column
	rows := p.rows(path)
	require.NotEmpty(p.t, rows, path)
	for _, column := range columns {
		if column.Type != "" {
			typed = append(typed, column)
			continue
		}
		for _, row := range rows {
			require.Contains(p.t, row, column.Field, path)
		}
	}
	p.selected(path, typed)
	return rows
}

// The messages panel of the original turns its pages by a cursor, by the id of the last row,
// and by names for the last pages.
func theOriginalTurnsItsPages(p *pictured) {
	t := p.t
	ask := func(query string) []map[string]any {
		return p.rows("/coord/v1/monitoring/grafana/messages?streamPrefix=" + demoStream + "&consumerGroup=" + demoGroup + query)
	}
	require.Eventually(t, func() bool { return len(ask("&shardIndex=0&direction=FORWARD&limit=25")) == 25 }, patience, often, "a page is full")
	for _, shard := range []string{"0", "all"} {
		for _, direction := range []string{"FORWARD", "BACKWARD"} {
			for _, limit := range []string{"10", "25", "50", "100", "250", "500", "1000"} {
				require.NotEmpty(t, ask("&shardIndex="+shard+"&direction="+direction+"&limit="+limit))
			}
		}
		require.NotEmpty(t, ask("&shardIndex="+shard+"&direction=FORWARD&limit=10&cursor=__rsc_tail__:0"))
		require.NotEmpty(t, ask("&shardIndex="+shard+"&direction=FORWARD&limit=10&cursor=__rsc_tail__:1"))
		require.NotEmpty(t, ask("&shardIndex="+shard+"&direction=FORWARD&limit=10&cursor=__rsc_last__"))
		first := ask("&shardIndex=" + shard + "&direction=FORWARD&limit=10")
		last := first[len(first)-1]
		next, is := last["pageNextCursor"].(string)
		require.True(t, is, "there is a next page")
		second := ask("&shardIndex=" + shard + "&direction=FORWARD&limit=10&cursor=" + next)
		require.NotEmpty(t, second)
		require.NotContains(t, second, last)
		require.Len(t, ask("&shardIndex="+shard+"&recordId="+textIn(last, "recordId")), 1)
	}
	first := ask("&shardIndex=0&direction=FORWARD&limit=10")
	byID := ask("&shardIndex=0&direction=FORWARD&limit=10&cursor=" + textIn(first[9], "recordId"))
	require.NotEmpty(t, byID)
	require.NotContains(t, byID, first[9], "the page begins after the row")
}
