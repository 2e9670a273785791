package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// What the standalone's demo works on.
const (
	demoStream = "orders"
	demoGroup  = "orders-consumer"
	demoShards = 4
)

// dashboardsDir is where the dashboards lie that Grafana reads.
var dashboardsDir = filepath.Join("..", "..", "grafana", "dashboards")

// pictured is a standalone with its demo, asked as Grafana does: with the name and password
// of a user that may read and nothing else.
type pictured struct {
	t       *testing.T
	base    string // of the API
	metrics string // of the metrics port
	http    *http.Client
	auth    map[string]string
}

// startPictured starts it, and returns when every kind of row is there.
func startPictured(t *testing.T) *pictured {
	t.Helper()
	t.Cleanup(forgetResult)
	hashes, err := guardedHashes()
	require.NoError(t, err)
	settings := filepath.Join(t.TempDir(), "standalone.yaml")
	writeSettings(t, settings, fmt.Sprintf(
		"coordinator:\n  api:\n    users:\n      - {username: %s, password-hash: %q, roles: [READ]}\n", userViewer, hashes[userViewer]))
	address, metrics := freeAddress(t), freeAddress(t)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	p := &pictured{
		t: t, base: "http://" + address, metrics: "http://" + metrics, http: &http.Client{Transport: transport, Timeout: patience},
		auth: map[string]string{
			"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(userViewer+":"+passwordOf(userViewer))),
		},
	}
	one := start(t, "standalone", "standalone", "--addr", address, "--metrics-addr", metrics, "--config", settings,
		"--redis", redisproc.Start(t).URL(), "--demo-cycle", "1h")
	require.Eventually(t, func() bool {
		if one.ended() {
			return true
		}
		for _, path := range []string{"shards", "members", "assignments", "messages"} {
			got, err := p.get("/coord/v1/monitoring/grafana/" + path + "?streamPrefix=" + demoStream + "&consumerGroup=" + demoGroup)
			var rows []map[string]any
			if err != nil || got.status != http.StatusOK || json.Unmarshal(got.body, &rows) != nil || len(rows) == 0 {
				return false
			}
		}
		return true
	}, patience, often, "the demo is seen")
	require.False(t, one.ended(), "it has ended:\n%s", one.all.tail())
	return p
}

// in is the same for another test.
func (p *pictured) in(t *testing.T) *pictured {
	t.Helper()
	other := *p
	other.t = t
	return &other
}

func (p *pictured) get(path string) (guardedReply, error) {
	return sendWith(p.http, p.base, guardedCall{path: path, header: p.auth})
}

// rows returns what a path answers; it must be a plain array of rows (metric names, Dashboards).
func (p *pictured) rows(path string) []map[string]any {
	p.t.Helper()
	got, err := p.get(path)
	require.NoError(p.t, err, path)
	require.Equal(p.t, http.StatusOK, got.status, "%s: %s", path, got.body)
	var rows []map[string]any
	got.decode(p.t, &rows)
	require.NotNil(p.t, rows, "%s answers null", path)
	return rows
}

// textIn returns a field that is a text, "" where it is none.
func textIn(row map[string]any, field string) string {
	text, _ := row[field].(string)
	return text
}

// selected checks that every row has the columns, each null or of its type.
func (p *pictured) selected(path string, columns []query.Column) []map[string]any {
	p.t.Helper()
	rows := p.rows(path)
	for _, row := range rows {
		for _, column := range columns {
			value, there := row[column.Field]
			require.True(p.t, there, "%s has no %s", path, column.Field)
			if value != nil {
				require.True(p.t, isOf(column.Type, value), "%s: %s is the %T %v", path, column.Field, value, value)
			}
		}
	}
	return rows
}

// isOf tells whether Infinity reads a value of JSON as a column of the type. A number that is
// written as a text would be read, but not by all versions.
func isOf(kind string, value any) bool {
	switch kind {
	case "number":
		_, is := value.(float64)
		return is
	case "string":
		_, is := value.(string)
		return is
	case "boolean":
		_, is := value.(bool)
		return is
	case "timestamp", "time":
		text, is := value.(string)
		_, err := time.Parse(time.RFC3339, text)
		return is && err == nil
	}
	return false
}

// choose fills the variables of a dashboard in their order, as Grafana does when it is
// opened: the preset value, the entry for all, or the first option.
func (p *pictured) choose(dashboard query.Dashboard) map[string]string {
	p.t.Helper()
	chosen := map[string]string{"__rate_interval": "30s"}
	for _, variable := range dashboard.Variables {
		value := variable.Current
		if variable.Options != nil {
			path, missing := query.Fill(variable.Options.Path, chosen)
			require.Empty(p.t, missing, path)
			rows := p.selected(path, variable.Options.Columns)
			require.NotEmpty(p.t, rows, "%s of %s has no options", variable.Name, dashboard.UID)
			value, _ = rows[0]["__value"].(string)
			require.NotEmpty(p.t, value)
		}
		if variable.All != "" {
			value = variable.All
		}
		chosen[variable.Name] = value
	}
	return maps.Clone(chosen)
}
