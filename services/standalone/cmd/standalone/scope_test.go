package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const tenants = `coordinator:
  api:
    users:
      - {username: admin, password: password, roles: [WRITE]}
      - {username: tenant, password: password, roles: [READ], scopes: ["pay*"]}
`

// Gateway, Roles: through gateway, monitor and console a user with scopes has an overview of the
// streams that they reach, and finds no trace of others.
func TestAUserWithScopesHasAnOverviewOfTheirStreams(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(settings, []byte(tenants), 0o600))
	p := start(t, []string{"RSC_OBSERVE_INTERVAL=250ms"}, "--demo=false", "--redis", redisproc.Start(t).URL(), "--config", settings)
	p.says(t, "no demo")
	_, rest, _ := strings.Cut(p.out.String(), "API on ")
	gateway, _, _ := strings.Cut(rest, "/coord/v1,")
	for _, stream := range []string{"orders", "payments"} {
		status, body := askAs(t, "admin", http.MethodPost, gateway+"/coord/v1/streams/"+stream,
			`{"requestedBy":"t","consumerGroups":["billing"],"initialShardCount":2}`)
		require.Equal(t, http.StatusCreated, status, body)
	}
	rows := gateway + monitoring + "/grafana/groups"
	require.Eventually(t, func() bool {
		status, body := askAs(t, "admin", http.MethodGet, rows, "")
		return status == http.StatusOK && strings.Contains(body, "payments") && strings.Contains(body, "orders")
	}, patience, interval)

	for _, target := range []string{rows, rows + "?samples=5&streamPrefix=", gateway + monitoring + "/groups", gateway + monitoring + "/grafana/options/streams"} {
		status, body := askAs(t, "tenant", http.MethodGet, target, "")
		require.Equal(t, http.StatusOK, status, body)
		require.Contains(t, body, "payments", target)
		require.NotContains(t, body, "orders", target)
	}
	for _, target := range []string{"/grafana/shards?streamPrefix=&consumerGroup=", "/streams/orders/groups/billing", "/stream?streamPrefix=orders"} {
		status, body := askAs(t, "tenant", http.MethodGet, gateway+monitoring+target, "")
		require.Equal(t, http.StatusForbidden, status, body)
		require.Contains(t, body, string(protocol.CodeForbidden))
	}

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	answer := browse(t, browser, http.MethodPost, gateway+"/console/login", url.Values{"username": {"tenant"}, "password": {"password"}})
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(page), "payments / billing")
	require.Contains(t, string(page), "only pay*")
	require.NotContains(t, string(page), "orders")
}

// askAs asks as a user whose password is that of development.
func askAs(t *testing.T, user, method, target, body string) (status int, answered string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	require.NoError(t, err)
	request.SetBasicAuth(user, "password")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}
