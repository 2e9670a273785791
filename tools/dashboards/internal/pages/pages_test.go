package pages_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/pages"
	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// read returns all dashboards as a reader of their files sees them, with their text.
func read(t *testing.T) map[string]query.Dashboard {
	t.Helper()
	all := map[string]query.Dashboard{}
	for text, one := range texts(t) {
		require.NotContains(t, all, one.UID, "two dashboards have one uid")
		require.NotEmpty(t, text)
		all[one.UID] = one
	}
	return all
}

func texts(t *testing.T) map[string]query.Dashboard {
	t.Helper()
	all := map[string]query.Dashboard{}
	for _, page := range pages.All() {
		text, err := page.Text()
		require.NoError(t, err)
		one, err := query.Parse(text)
		require.NoError(t, err)
		all[string(text)] = one
	}
	return all
}

// People keep links to dashboards, and so do the dashboards (monitoring, Grafana).
func TestTheAddressesOfTheDashboardsAreFixed(t *testing.T) {
	t.Parallel()
	all := read(t)
	require.Len(t, all, 5)
	for _, uid := range []string{"rsc-overview", "rsc-stream-detail", "rsc-members", "rsc-internals", "rsc-messages"} {
		require.Contains(t, all, uid)
	}
	for text := range texts(t) {
		for _, link := range regexp.MustCompile(`"/d/([a-z-]+)`).FindAllStringSubmatch(text, -1) {
			require.Contains(t, all, link[1])
		}
	}
}

func TestEveryDataSourceIsChosenAtTheHead(t *testing.T) {
	t.Parallel()
	for uid, one := range read(t) {
		preset := map[string]string{}
		for _, variable := range one.Variables {
			if variable.Kind == "datasource" {
				preset[variable.Name] = variable.Current
			}
		}
		require.Equal(t, map[string]string{"datasource": "rsc-prometheus", "api": "rsc-coordinator-api"}, preset, uid)
		for _, source := range one.Sources {
			require.Contains(t, []string{"", "${datasource}", "${api}"}, source, uid)
		}
	}
}

// Hosts and passwords belong to the data sources, and those to the environment.
func TestNoDashboardNamesAHost(t *testing.T) {
	t.Parallel()
	for text, one := range texts(t) {
		require.NotContains(t, text, "://", one.UID)
		require.NotContains(t, strings.ToLower(text), "localhost", one.UID)
		for _, request := range one.Requests {
			require.True(t, strings.HasPrefix(request.Path, "/coord/v1/monitoring/grafana/"), request.Path)
		}
	}
}

// Every variable that is used is chosen at the head, before what depends on it; all that is
// chosen is used.
func TestEveryVariableIsChosenAndUsed(t *testing.T) {
	t.Parallel()
	known := map[string]string{"__rate_interval": "1m", "__url_time_range": ""}
	for uid, one := range read(t) {
		values := map[string]string{}
		for name := range known {
			values[name] = known[name]
		}
		used := map[string]bool{"datasource": true, "api": true}
		check := func(text string) {
			_, missing := query.Fill(text, values)
			require.Empty(t, missing, "%s: %s", uid, text)
			for name := range values {
				if strings.Contains(text, "$"+name) || strings.Contains(text, "${"+name) {
					used[name] = true
				}
			}
		}
		for _, variable := range one.Variables {
			if variable.Options != nil {
				check(variable.Options.Path)
			}
			values[variable.Name] = "x"
		}
		for _, expression := range one.Expressions {
			check(expression.Text)
		}
		for _, request := range one.Requests {
			check(request.Path)
		}
		for _, variable := range one.Variables {
			require.True(t, used[variable.Name], "%s: nothing uses $%s", uid, variable.Name)
		}
	}
}

// What a variable puts into a query is encoded: a name with & or + in it stays one name.
func TestVariablesInQueriesAreEncoded(t *testing.T) {
	t.Parallel()
	plain := regexp.MustCompile(`\$\w|\$\{\w+\}`)
	for _, one := range read(t) {
		for _, request := range one.Requests {
			require.NotRegexp(t, plain, request.Path)
		}
		for _, variable := range one.Variables {
			if variable.Options != nil {
				require.NotRegexp(t, plain, variable.Options.Path)
			}
		}
	}
}

// Unknown is no value and never 0 (monitoring, Prometheus): no expression makes one up, no
// line is drawn through a gap, and every panel says so in a word.
func TestWhatIsUnknownIsShownAsUnknown(t *testing.T) {
	t.Parallel()
	for text, one := range texts(t) {
		for _, expression := range one.Expressions {
			require.NotContains(t, expression.Text, "vector(", one.UID)
		}
		require.NotContains(t, text, `"spanNulls": true`, one.UID)
		var in struct {
			Panels []struct {
				Type, Title string
				FieldConfig struct {
					Defaults struct {
						NoValue string
						Unit    string
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &in))
		for _, panel := range in.Panels {
			if panel.Type != "row" {
				require.Equal(t, "unknown", panel.FieldConfig.Defaults.NoValue, "%s: %s", one.UID, panel.Title)
				require.NotEmpty(t, panel.FieldConfig.Defaults.Unit, "%s: %s", one.UID, panel.Title)
			}
		}
	}
}

// Shards are summed over the groups of a stream only where the value is that of a group, and
// only as long as every part is known (monitoring, Rates).
func TestSumsOverShardsTellWhenAPartIsUnknown(t *testing.T) {
	t.Parallel()
	summed := regexp.MustCompile(`^sum(?: by \([^)]*\))? \(redis_stream_coord_shard_(?:lag|pending|consumed_per_second|produced_per_second|trimmed_unread)\b`)
	for _, one := range read(t) {
		found := 0
		for _, expression := range one.Expressions {
			if summed.MatchString(expression.Text) {
				found++
				require.Contains(t, expression.Text, " unless ", expression.Text)
				require.Contains(t, expression.Text, "== count", expression.Text)
			}
		}
		if one.UID == "rsc-overview" || one.UID == "rsc-stream-detail" {
			require.NotZero(t, found, one.UID)
		}
	}
}
