package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestScopeCoversItsPrefixesOnly(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		scope, stream string
		covered       bool
	}{
		{"orders", "orders", true},
		{"orders", "orders-eu", false},
		{"orders", "order", false},
		{"orders", "Orders", false},
		{"orders*", "orders", true},
		{"orders*", "orders-eu", true},
		{"orders*", "order", false},
		{"orders*", "xorders", false},
		{"orders*", "ORDERS", false},
		{"orders:*", "orders:eu", true},
		{"orders:*", "orders", false},
		{"a.c", "abc", false},
	} {
		scope, err := auth.ParseScope(row.scope)
		require.NoError(t, err)
		require.Equal(t, row.covered, scope.Covers(row.stream), "%s of %s", row.stream, row.scope)
	}
	long, err := auth.ParseScope(strings.Repeat("s", 1024))
	require.NoError(t, err, "how long they are is for the table of users to say")
	require.False(t, long.Covers(strings.Repeat("s", 200)))
	for _, pattern := range []string{"", "*", "**", "*a", "a*b", "a**", "a*b*", "a?", "[a]*", `a\*`, "ä*", "a\x00*", "a\xff", "orders *", " orders", "orders,users", "-a*", "orders:"} {
		scope, err := auth.ParseScope(pattern)
		require.Error(t, err, "%q", pattern)
		require.Empty(t, scope)
	}
}

func TestScopeIsAPrefixOfWhatItCovers(t *testing.T) {
	t.Parallel()
	part := rapid.StringMatching(`[ab*]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		pattern, stream := part.Draw(t, "pattern"), part.Draw(t, "stream")
		scope, err := auth.ParseScope(pattern)
		if err != nil {
			return
		}
		begin, open := strings.CutSuffix(pattern, "*")
		require.NotContains(t, begin, "*")
		require.Equal(t, stream == begin || open && strings.HasPrefix(stream, begin), scope.Covers(stream))
	})
}

func TestPrincipalNeedsTheRoleAndTheStream(t *testing.T) {
	t.Parallel()
	all := auth.Principal{Name: "a", Roles: auth.Read}
	bound := auth.Principal{Name: "b", Roles: auth.Read | auth.Write, Scopes: []auth.Scope{"orders*", "users"}}
	for _, row := range []struct {
		who    auth.Principal
		roles  auth.Roles
		stream string
		may    bool
	}{
		{auth.Principal{}, auth.Read, "orders", false},
		{auth.Principal{Name: "x"}, auth.Read | auth.Write | auth.Member, "", false},
		{all, auth.Read, "orders", true},
		{all, auth.Read, "", true},
		{all, auth.Write, "orders", false},
		{all, auth.Write | auth.Read, "orders", true},
		{all, 0, "orders", false},
		{bound, auth.Write, "orders-eu", true},
		{bound, auth.Write, "users", true},
		{bound, auth.Write, "users2", false},
		{bound, auth.Member, "orders", false},
		{bound, auth.Read, "", false},
		{bound, auth.Read, "other", false},
		{auth.Principal{Roles: auth.Read, Scopes: []auth.Scope{""}}, auth.Read, "orders", false},
		{auth.Principal{Roles: auth.Read, Scopes: []auth.Scope{""}}, auth.Read, "", false},
		{auth.Principal{Roles: auth.Read, Scopes: []auth.Scope{"*"}}, auth.Read, "orders", false},
		{auth.Principal{Roles: auth.Read, Scopes: []auth.Scope{}}, auth.Read, "orders", true},
	} {
		require.Equal(t, row.may, row.who.May(row.roles, row.stream), "%+v %s %q", row.who, row.roles, row.stream)
	}
}

// Another scope may add streams, but never take one away, and never the right to all.
func TestScopesAddUp(t *testing.T) {
	t.Parallel()
	scope := rapid.Map(rapid.StringMatching(`[ab]{1,2}\*?`), func(s string) auth.Scope { return auth.Scope(s) })
	rapid.Check(t, func(t *rapid.T) {
		p := auth.Principal{Roles: auth.Read, Scopes: rapid.SliceOfN(scope, 1, 4).Draw(t, "scopes")}
		wider := p
		wider.Scopes = append([]auth.Scope{scope.Draw(t, "more")}, p.Scopes...)
		stream := rapid.StringMatching(`[abc]{1,3}`).Draw(t, "stream")
		require.Equal(t, p.Reaches(stream) || wider.Scopes[0].Covers(stream), wider.Reaches(stream))
		require.False(t, wider.Reaches(""))
	})
}
