package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// What the dashboards ask of the API is tried on one running suite.
func TestGrafana(t *testing.T) {
	t.Parallel()
	p := startPictured(t)
	for claim, holds := range map[string]func(*pictured){
		"every request of the dashboards is answered":        everyRequestIsAnswered,
		"a dashboard with nothing chosen shows nothing":      nothingChosenShowsNothing,
		"the messages dashboard turns its pages":             messagesTurnTheirPages,
		"the dashboards of the original are answered":        theOriginalIsAnswered,
		"the messages panel of the original turns its pages": theOriginalTurnsItsPages,
		"without a name nothing is answered":                 nobodySeesNothing,
		"the dashboards of the original find their series":   theOriginalFindsItsSeries,
	} {
		t.Run(claim, func(t *testing.T) {
			t.Parallel()
			holds(p.in(t))
		})
	}
}

// Every request of every dashboard is answered by the running suite, with the columns that
// the panel selects (monitoring, Grafana).
func everyRequestIsAnswered(p *pictured) {
	t := p.t
	dashboards, err := query.Read(dashboardsDir)
	require.NoError(t, err)
	requests := 0
	for _, dashboard := range dashboards {
		chosen := p.choose(dashboard)
		for _, request := range dashboard.Requests {
			path, missing := query.Fill(request.Path, chosen)
			require.Empty(t, missing)
			rows := p.selected(path, request.Columns)
			require.NotEmpty(t, rows, "%s: %s shows nothing", dashboard.UID, request.Panel)
			requests++
			for _, row := range rows {
				if stream, has := row["streamPrefix"]; has {
					require.Equal(t, demoStream, stream)
				}
			}
		}
	}
	require.GreaterOrEqual(t, requests, 6)
}

// A dashboard asks before anything is chosen, and after what was chosen has gone: that is no
// error but no rows (metric names, Rules for the endpoints).
func nothingChosenShowsNothing(p *pictured) {
	t := p.t
	dashboards, err := query.Read(dashboardsDir)
	require.NoError(t, err)
	for _, dashboard := range dashboards {
		for _, of := range []string{"", "gone"} {
			chosen := p.choose(dashboard)
			if _, has := chosen["streamPrefix"]; !has {
				continue
			}
			chosen["streamPrefix"], chosen["consumerGroup"] = of, of
			for _, request := range dashboard.Requests {
				path, _ := query.Fill(request.Path, chosen)
				rows := p.rows(path)
				if of == "" && strings.Contains(path, "/shards?") {
					require.Len(t, rows, demoShards, "no filter")
					continue
				}
				require.Empty(t, rows, path)
			}
		}
	}
}

// The pages of the messages follow one another by what a row says, each record once, until
// there is no next one; an id finds one record.
func messagesTurnTheirPages(p *pictured) {
	t := p.t
	dashboards, err := query.Read(dashboardsDir)
	require.NoError(t, err)
	at := -1
	for i := range dashboards {
		if dashboards[i].UID == "rsc-messages" {
			at = i
		}
	}
	require.GreaterOrEqual(t, at, 0)
	dashboard := dashboards[at]
	request, chosen := dashboard.Requests[0], p.choose(dashboard)
	chosen["limit"] = "10"
	page := func() []map[string]any {
		path, missing := query.Fill(request.Path, chosen)
		require.Empty(t, missing)
		return p.selected(path, request.Columns)
	}
	require.Eventually(t, func() bool { return len(page()) == 10 }, patience, often, "there is a full page")
	seen := map[string]bool{}
	for range 3 {
		rows := page()
		for _, row := range rows {
			id := textIn(row, "streamKey") + " " + textIn(row, "recordId")
			require.False(t, seen[id], "%s is on two pages", id)
			seen[id] = true
		}
		next, is := rows[len(rows)-1]["pageNextCursor"].(string)
		if !is {
			break
		}
		chosen["cursor"] = next
	}
	require.GreaterOrEqual(t, len(seen), 10)

	chosen["cursor"] = ""
	one := page()[0]
	chosen["recordId"] = textIn(one, "recordId")
	found := page()
	require.NotEmpty(t, found)
	for _, row := range found {
		require.Equal(t, one["recordId"], row["recordId"], "%s", url.QueryEscape(chosen["recordId"]))
	}
}

// Without a name the API answers nothing: the password is the data source's to give.
func nobodySeesNothing(p *pictured) {
	p.auth = nil
	got, err := p.get("/coord/v1/monitoring/grafana/groups")
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusUnauthorized, got.status)
}
