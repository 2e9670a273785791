package query_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

const dashboard = `{
  "uid": "a", "title": "A",
  "templating": {"list": [
    {"name": "source", "type": "datasource", "query": "prometheus", "current": {"value": "p"}},
    {"name": "stream", "type": "query", "datasource": {"uid": "i"}, "current": {},
     "query": {"queryType": "infinity", "infinityQuery": {"url": "/options", "columns": [{"selector": "__value", "type": "string"}]}}},
    {"name": "route", "type": "query", "datasource": {"uid": "p"}, "allValue": ".*", "current": {"value": ["$__all"]},
     "query": {"query": "label_values(some_total{a=\"b\", c=\"d\"}, route)"}}
  ]},
  "panels": [
    {"title": "P", "datasource": {"uid": "p"}, "targets": [{"datasource": {"uid": "q"}, "expr": "up"}]},
    {"title": "Folded", "panels": [{"title": "Q", "targets": [{"url": "/rows?a=$stream", "columns": [{"selector": "x", "type": "number"}]}]}]}
  ]}`

func TestWhatADashboardAsksIsFound(t *testing.T) {
	t.Parallel()
	got, err := query.Parse([]byte(dashboard))
	require.NoError(t, err)
	require.Equal(t, []query.Expression{{Dashboard: "a", Panel: "P", Text: "up"}}, got.Expressions)
	require.Equal(t, []query.Request{{
		Dashboard: "a", Panel: "Q", Path: "/rows?a=$stream", Columns: []query.Column{{Field: "x", Type: "number"}},
	}}, got.Requests, "that of a folded row too")
	require.Subset(t, got.Sources, []string{"p", "q", "i"})
	require.Equal(t, query.Variable{Name: "source", Kind: "datasource", Current: "p"}, got.Variables[0])
	require.Equal(t, "/options", got.Variables[1].Options.Path)
	require.Equal(t, `some_total{a="b", c="d"}`, got.Variables[2].Expression)
	require.Equal(t, ".*", got.Variables[2].All)
}

func TestAFileThatIsNoDashboardIsRefused(t *testing.T) {
	t.Parallel()
	_, err := query.Parse([]byte(`{}`))
	require.ErrorContains(t, err, "uid")
	_, err = query.Parse([]byte(`{`))
	require.Error(t, err)
	_, err = query.Parse([]byte(`{"uid": "a", "templating": {"list": [{"name": "b", "type": "query", "query": 1}]}}`))
	require.ErrorContains(t, err, "variable b")
	_, err = query.Read(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.json"), []byte("[]"), 0o600))
	_, err = query.Read(dir)
	require.ErrorContains(t, err, "x.json")
}

func TestExpressionsOfVariablesAreExpressionsToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.json"), []byte(dashboard), 0o600))
	all, err := query.Expressions(dir)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "$route", all[1].Panel)
}

func TestVariablesAreFilledAsGrafanaFillsThem(t *testing.T) {
	t.Parallel()
	values := map[string]string{"a": "x y&+:z", "ab": "second", "__rate_interval": "1m"}
	for text, want := range map[string]string{
		"$a":                        "x y&+:z",
		"$ab":                       "second",
		"${a}b":                     "x y&+:zb",
		"${a:percentencode}":        "x%20y%26%2B%3Az",
		"rate(m[$__rate_interval])": "rate(m[1m])",
		"a$":                        "a$",
	} {
		got, missing := query.Fill(text, values)
		require.Equal(t, want, got)
		require.Empty(t, missing)
	}
	got, missing := query.Fill("$b and ${c:raw}", values)
	require.Equal(t, "$b and ${c:raw}", got)
	require.Equal(t, []string{"b", "c"}, missing)
}

func TestTheNamesOfMetricsAreFound(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"go_goroutines", "redis_stream_coord_up"},
		query.Metrics(`sum(redis_stream_coord_up{group="x"}) + on (a) redis_stream_coord_up / go_goroutines`))
	require.Empty(t, query.Metrics("up"))
}
