package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

// narrowed are the endpoints about all streams that callers with scopes may ask as well.
func narrowed() []string {
	return []string{base + "/groups", rowsOf + "/groups", rowsOf + "/options/streams"}
}

// severalTenants is a round of the streams orders, orders.eu, payments, and other, whose group
// cannot be shown.
func severalTenants(number int64) facts.Round {
	round := roundOf(number)
	round.Groups = append(round.Groups, groupOf("orders.eu", "billing"), groupOf("payments", "billing"))
	return round
}

// Gateway, Roles: a user with scopes sees the streams that they reach, and nothing of others.
func TestACallerWithScopesIsToldOfTheStreamsThatTheyReach(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	m := start(t, httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(ring, false, time.Now)})
	m.publish(severalTenants(1))
	for _, test := range []struct {
		scopes  []auth.Scope
		streams []string
	}{
		{nil, []string{"orders", "orders", "orders.eu", "payments"}},
		{[]auth.Scope{"orders"}, []string{"orders", "orders"}},
		{[]auth.Scope{"orders*"}, []string{"orders", "orders", "orders.eu"}},
		{[]auth.Scope{"pay*", "orders.eu"}, []string{"orders.eu", "payments"}},
		{[]auth.Scope{"nothing"}, []string{}},
	} {
		header := []string{"Authorization", token(t, ring, auth.AudienceMonitor, auth.Read, test.scopes...)}
		rows, named := []string{}, []string{}
		for _, row := range readAs[[]protocol.GrafanaGroupRow](m, rowsOf+"/groups?samples=2", header) {
			rows = append(rows, row.StreamPrefix)
			require.NotNil(t, row.Samples)
		}
		require.Equal(t, test.streams, rows, test.scopes)
		for _, group := range readAs[protocol.GroupsResponse](m, base+"/groups", header).Groups {
			named = append(named, group.StreamPrefix)
		}
		require.Equal(t, test.streams, named, test.scopes)
		options := readAs[[]protocol.GrafanaOptionRow](m, rowsOf+"/options/consumer-groups?streamPrefix=", header)
		if test.scopes != nil { // that of the broken group is an option of those who may see it
			require.Len(t, options, len(test.streams), test.scopes)
		}
		for _, option := range readAs[[]protocol.GrafanaOptionRow](m, rowsOf+"/options/streams", header) {
			require.True(t, test.scopes == nil || auth.Principal{Scopes: test.scopes}.Reaches(option.Value), option.Value)
		}
	}
}

// Naming a stream in a query that the endpoint does not go by gives no more rights.
func TestAQueryWidensNothing(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	m := start(t, httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(ring, false, time.Now)})
	m.publish(severalTenants(1))
	mine := []string{"Authorization", token(t, ring, auth.AudienceMonitor, auth.Read, "payments")}
	for _, target := range narrowed() {
		require.NotContains(t, string(m.get(http.StatusOK, target+"?streamPrefix=payments", mine...)), "orders")
		require.Equal(t, protocol.CodeForbidden, m.code(403, target+"?streamPrefix=orders", mine...))
	}
}

// The events tell of the same, groups that cannot be shown included.
func TestEventsTellACallerWithScopesOfNothingElse(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	m := start(t, httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(ring, false, time.Now)})
	m.publish(severalTenants(1))
	events := m.listen("", "Authorization", token(t, ring, auth.AudienceMonitor, auth.Read, "payments"))
	all := m.listen("", "Authorization", token(t, ring, auth.AudienceMonitor, auth.Read))
	first := events.groups()
	require.Len(t, first.Groups, 1)
	require.Equal(t, "payments", first.Groups[0].StreamPrefix)
	require.Empty(t, first.Unreadable)
	whole := all.groups()
	require.Len(t, whole.Groups, 4, "the rows are made once for all who follow")
	require.Len(t, whole.Unreadable, 1)

	gone := severalTenants(2)
	gone.Groups = gone.Groups[3:]
	m.publish(gone)
	require.Empty(t, events.groups().Removed)
	require.Len(t, all.groups().Removed, 2)
	grouped := m.listen("?consumerGroup=billing", "Authorization", token(t, ring, auth.AudienceMonitor, auth.Read, "payments"))
	require.Len(t, grouped.groups().Groups, 1)
}

func readAs[T any](m *monitor, target string, header []string) T {
	m.t.Helper()
	var into T
	require.NoError(m.t, json.Unmarshal(m.get(http.StatusOK, target, header...), &into))
	return into
}
