package e2e_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	usersRead    = "users were read again"
	usersNotRead = "settings were not read again"
)

// gateway, Authentication: rights are looked up in the current user table, so removing a user
// or a role works at once, whatever token they hold.
func TestGatewayReadsUsersAgainOnHangup(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 1})
	ops, viewer, scoped := g.login(userOps), g.login(userViewer), g.login(userScoped)
	g.passes(createStream(ops, stream), http.StatusCreated)
	g.passes(planScale(scoped, stream), http.StatusOK)
	basic := asBasic(userOps, guardedCall{path: api("/streams")})
	g.passes(basic, http.StatusOK) // remembered for 60 s from now on

	unchanged := func() {
		t.Helper()
		for _, token := range []string{ops, viewer, scoped} {
			g.passes(guardedCall{path: api("/streams/" + stream), token: token}, http.StatusOK)
		}
		g.passes(basic, http.StatusOK)
	}
	step(t, "a file that is broken changes nothing", func() {
		for _, text := range []string{
			"coordinator: [", "coordinator:\n  api:\n    users: []\n", "coordinator:\n  api:\n    users:\n      - {username: eve, roles: [WRITE]}\n",
			"coordinator:\n  api:\n    user:\n      - {username: eve}\n", "",
		} {
			writeSettings(t, g.settings, text)
			g.reload(usersNotRead)
			unchanged()
		}
		require.NoError(t, os.Remove(g.settings))
		g.reload(usersNotRead)
		unchanged()
	})

	step(t, "a role and a scope that are taken away are gone at once", func() {
		less := guardedUsers(t)
		less[0].role = "READ"
		less[3].scope = "payments"
		g.configure(less...)
		g.reload(usersRead)
		g.refused(planScale(ops, stream), http.StatusForbidden, protocol.CodeForbidden)
		g.refused(asBasic(userOps, planScale("", stream)), http.StatusForbidden, protocol.CodeForbidden)
		g.passes(guardedCall{path: api("/streams/" + stream), token: ops}, http.StatusOK)
		g.refused(planScale(scoped, stream), http.StatusForbidden, protocol.CodeForbidden)
		g.refused(guardedCall{path: api("/streams/" + stream), token: scoped}, http.StatusForbidden, protocol.CodeForbidden)
	})

	step(t, "a password that was changed is no longer taken, remembered or not", func() {
		other := guardedUsers(t)
		other[0].hash = other[1].hash
		g.configure(other...)
		g.reload(usersRead)
		g.refused(basic, http.StatusUnauthorized, protocol.CodeUnauthorized)
		g.passes(planScale(ops, stream), http.StatusOK) // the role is back, and the token is of the user
	})

	step(t, "a user that was removed is nobody at once", func() {
		g.configure(guardedUsers(t)...)
		g.reload(usersRead)
		g.passes(basic, http.StatusOK)
		g.configure(slices.DeleteFunc(guardedUsers(t), func(u guardedUser) bool { return u.name == userOps })...)
		g.reload(usersRead)
		g.refused(planScale(ops, stream), http.StatusUnauthorized, protocol.CodeUnauthorized)
		g.refused(guardedCall{path: api("/streams"), token: ops}, http.StatusUnauthorized, protocol.CodeUnauthorized)
		got := g.refused(basic, http.StatusUnauthorized, protocol.CodeUnauthorized)
		require.NotEmpty(t, got.header.Get("WWW-Authenticate"))
		g.passes(guardedCall{path: api("/streams/" + stream), token: viewer}, http.StatusOK)
	})
	require.False(t, g.gateways[0].ended())
	require.NotContains(t, string(g.gateways[0].all.bytes()), "canary")
}

// asBasic sends a user's name and password with the request.
func asBasic(user string, c guardedCall) guardedCall {
	c.header = map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+passwordOf(user)))}
	return c
}
