package check

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page answers everything with the status and the text that texts has for the longest part of
// the query in it.
func page(t *testing.T, status int, texts map[string]string) *Suite {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		for part, text := range texts {
			if strings.Contains(r.URL.Path+"?"+r.URL.Query().Get("query"), part) {
				_, _ = w.Write([]byte(text))
			}
		}
	}))
	t.Cleanup(server.Close)
	return &Suite{
		Gateway: server.URL, Prometheus: server.URL, Grafana: server.URL, HTTP: server.Client(), Jobs: []string{"rsc-coordinator", "rsc-web"},
	}
}

func TestEveryTargetOfTheJobsHasToBeUp(t *testing.T) {
	t.Parallel()
	target := func(job, value string) string {
		return `{"metric":{"job":"` + job + `","instance":"here"},"value":[1,"` + value + `"]}`
	}
	answer := func(results ...string) string { return `{"data":{"result":[` + strings.Join(results, ",") + `]}}` }
	series := answer(`{"metric":{},"value":[1,"400"]}`)

	well := map[string]string{"?up": answer(target("rsc-coordinator", "1"), target("rsc-web", "1"), target("other", "0")), "?count": series}
	seen, err := page(t, http.StatusOK, well).scraped(t.Context())
	require.NoError(t, err)
	require.Contains(t, seen, "400 series")

	for told, texts := range map[string]map[string]string{
		"here of rsc-web is down":           {"?up": answer(target("rsc-coordinator", "1"), target("rsc-web", "0")), "?count": series},
		"no target of rsc-web was scraped":  {"?up": answer(target("rsc-coordinator", "1")), "?count": series},
		"no redis_stream_coord_ series was": {"?up": well["?up"], "?count": answer()},
		"read the answer of Prometheus":     {"?up": "<html>"},
	} {
		_, err := page(t, http.StatusOK, texts).targets(t.Context())
		require.ErrorContains(t, err, told)
	}
}

func TestAPageIsThereWhenItAnswersAndIsWhatItShouldBe(t *testing.T) {
	t.Parallel()
	seen, err := page(t, http.StatusOK, map[string]string{"/console/login": "<form>"}).console(t.Context())
	require.NoError(t, err)
	require.Contains(t, seen, "with a form")
	_, err = page(t, http.StatusOK, map[string]string{"/console/login": "hello"}).login(t.Context())
	require.ErrorContains(t, err, "has no form")
	_, err = page(t, http.StatusBadGateway, map[string]string{"/console/login": "<form>"}).login(t.Context())
	require.ErrorContains(t, err, "502")
	_, err = page(t, http.StatusOK, map[string]string{"/api/health": "ok"}).grafana(t.Context())
	require.NoError(t, err)
}
