package e2e_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The address of a browser, from the block that is kept for documentation.
const (
	opsAddress    = "203.0.113.7"
	viewerAddress = "203.0.113.8"
)

// Monitoring, Console; reliability, Console: whoever has logged in sees what the API shows them,
// and may do what it lets them, and nobody else anything.
func TestConsoleIsWhatItsUserMayDo(t *testing.T) {
	t.Parallel()
	s := startConsoled(t)
	s.passes(createStream(s.login(userOps), "orders"), http.StatusCreated)
	gate := s.gateways[0].url()
	const room = "/console/streams/orders/groups/" + group
	ops, viewer := newBrowser(t, gate, opsAddress), newBrowser(t, gate, viewerAddress)

	step(t, "nobody is sent to log in, and comes back to what was asked for", func() {
		got := ops.get(room + "?at=1")
		require.Equal(t, http.StatusSeeOther, got.status, got.text)
		require.Equal(t, "/console/login?"+url.Values{"next": {room + "?at=1"}}.Encode(), got.leadsTo())
		require.Contains(t, ops.shows(got.leadsTo()).text, `<form method="post" action="/console/login"`)
		at := ops.login(userOps, wrongPassword, room)
		require.Contains(t, at, "refused=UNAUTHORIZED")
		require.Contains(t, ops.shows(at).text, `role="alert"`)
		require.Equal(t, room, ops.login(userOps, passwordOf(userOps), room))
		require.Equal(t, "/console", viewer.login(userViewer, passwordOf(userViewer), "https://elsewhere.example/console"))
	})
	step(t, "the overview shows the stream, and no other site has a part in a page", func() {
		require.Eventually(t, func() bool { return strings.Contains(ops.get("/console").text, `href="`+room+`"`) }, patience, seldom)
		got := ops.shows("/console")
		policy := got.header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'self'")
		require.Contains(t, policy, "frame-ancestors 'none'")
		require.NotContains(t, policy, "unsafe-")
		require.Equal(t, "no-store", got.header.Get("Cache-Control"))
		require.Equal(t, "DENY", got.header.Get("X-Frame-Options"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
		require.NotContains(t, got.text, "http:")
		require.NotContains(t, got.text, "https:")
	})
	step(t, "forms prove their page", func() {
		own, others := ops.csrf(), viewer.csrf()
		require.NotEqual(t, own, others)
		for _, wrong := range []url.Values{{"to": {"4"}}, {"csrf": {""}}, {"csrf": {others}}, {"csrf": {own, own}}} {
			for _, at := range []string{room + "/scale", "/console/logout"} {
				require.Equal(t, http.StatusForbidden, ops.send(at, wrong).status, "%s %v", at, wrong)
			}
		}
		require.Equal(t, http.StatusForbidden, ops.send(room+"/scale", url.Values{"csrf": {own}}, "Origin", "https://elsewhere.example").status)
		require.Equal(t, own, ops.csrf(), "the session goes on")
	})
	step(t, "a change has its user and the address of the browser in the audit", func() { consoleScales(t, s, ops, room) })
	step(t, "who may only read sees no form, and is refused by the API", func() { consoleRefuses(t, s, viewer, room) })
	step(t, "the session is no way around the API's own proof", func() { sessionAtTheAPI(t, ops) })
	step(t, "what fails behind the gateway is said", func() { consoleIsAway(t, s, ops) })
	step(t, "logging out ends the session, also for whoever has its cookie", func() {
		csrf := ops.csrf()
		at, err := url.Parse(gate)
		require.NoError(t, err)
		cookies := ops.http.Jar.Cookies(at)
		require.Len(t, cookies, 1)
		got := ops.send("/console/logout", url.Values{"csrf": {csrf}})
		require.Equal(t, http.StatusSeeOther, got.status, got.text)
		require.Equal(t, "/console/login", got.leadsTo())
		thief := newBrowser(t, gate, "")
		stolen := cookies[0].Name + "=" + cookies[0].Value
		require.Equal(t, "/console/login", thief.send("/console", nil, "Cookie", stolen).leadsTo())
		require.Equal(t, http.StatusUnauthorized, thief.send(api("/streams"), nil, "Cookie", stolen).status)
		require.Equal(t, http.StatusOK, viewer.get("/console").status, "others stay")
	})
}

// consoleScales changes a shard count by the pages, and looks the change up.
func consoleScales(t *testing.T, s *consoled, ops *browser, room string) {
	t.Helper()
	form := ops.shows(room + "/scale?to=4")
	got := ops.send(room+"/scale", url.Values{
		"csrf": {form.field(t, "csrf")}, "once": {form.field(t, "once")}, "plan": {form.field(t, "plan")},
		"to": {"4"}, "word": {"orders"}, "reason": {"more load"},
	})
	require.Equal(t, http.StatusSeeOther, got.status, got.text)
	require.True(t, strings.HasPrefix(got.leadsTo(), room+"/migrations/"), got.leadsTo())
	ops.shows(got.leadsTo())
	var made []protocol.AuditRecord
	for _, one := range s.audit(s.login(userViewer)) {
		if one.Reason == "more load" && one.StreamPrefix == "orders" {
			made = append(made, one)
		}
	}
	outcome := requireTrail(t, made)
	require.Equal(t, userOps, outcome.Principal)
	require.Equal(t, userOps, outcome.RequestedBy)
	require.Equal(t, opsAddress, outcome.ClientAddress)
}

// consoleRefuses posts by hand what the pages do not offer to somebody who may only read.
func consoleRefuses(t *testing.T, s *consoled, viewer *browser, room string) {
	t.Helper()
	csrf := viewer.csrf()
	for _, path := range []string{"/console", room, room + "/scale", room + "/scale?to=8", room + "/migrations"} {
		require.Equal(t, 1, viewer.shows(path).forms(), "%s: the one to log out", path)
	}
	const reason = "by hand"
	got := viewer.send(room+"/scale", url.Values{"csrf": {csrf}, "once": {"a"}, "plan": {"p"}, "to": {"8"}, "word": {"orders"}, "reason": {reason}})
	require.Equal(t, http.StatusForbidden, got.status, got.text)
	for _, one := range s.audit(s.login(userViewer)) {
		require.False(t, one.Principal == userViewer && one.Kind == protocol.AuditIntent, "nothing of theirs was let through: %+v", one)
	}
}

// sessionAtTheAPI uses the cookie of the console at the API.
func sessionAtTheAPI(t *testing.T, ops *browser) {
	t.Helper()
	require.Equal(t, http.StatusOK, ops.get(api("/streams")).status)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ops.base+api("/streams/stolen"),
		strings.NewReader(`{"initialShardCount": 1, "requestedBy": "e2e"}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", ops.base)
	answer, err := ops.http.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
	require.NotContains(t, ops.get(api("/streams")).text, "stolen")
}

// consoleIsAway ends the console: the gateway says so, and the session outlasts it.
func consoleIsAway(t *testing.T, s *consoled, ops *browser) {
	t.Helper()
	s.console.kill()
	got := ops.get("/console")
	require.Equal(t, http.StatusServiceUnavailable, got.status, got.text)
	require.NotContains(t, got.text, s.console.address)
	require.Equal(t, http.StatusOK, ops.get(api("/streams")).status, "the API does not need it")
	s.console.restart()
	s.ready(s.console)
	require.Eventually(t, func() bool { return ops.get("/console").status == http.StatusOK }, patience, seldom)
}
