package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Monitoring, Console: System. What runs, with which settings, is told of every process, and of
// one that has died why nothing is known of it; secrets are told of none (reliability section 5).
func TestTheSystemIsToldOfEveryProcess(t *testing.T) {
	t.Parallel()
	s := startConsoledAs(t, guardedPlan{coordinators: 2, gateways: 1, auditRedis: withPassword(t), redisPassword: redisCanary})
	viewer := s.login(userViewer)
	s.eventuallySystem(viewer, func(parts []protocol.SystemPart) bool { return silentIn(parts) == nil }, "all parts answer")

	step(t, "every process is told of, with its settings", func() { s.systemIsWhole(viewer) })
	step(t, "it is for those who may read of all streams", func() {
		s.refused(guardedCall{path: api("/system")}, http.StatusUnauthorized, protocol.CodeUnauthorized)
		for _, user := range []string{userScoped, userMember} {
			s.refused(guardedCall{path: api("/system"), token: s.login(user)}, http.StatusForbidden, protocol.CodeForbidden)
		}
		for _, one := range []*guardedService{s.coordinators[0], s.monitor, s.console} {
			for _, token := range []string{"", viewer} {
				got := s.askAt(one, guardedCall{path: api("/internal/system"), token: token})
				require.Equal(t, http.StatusUnauthorized, got.status, "%s: %s", one.name, got.body)
			}
		}
		s.refused(guardedCall{path: api("/internal/system"), token: viewer}, http.StatusNotFound, protocol.CodeNotFound)
	})
	browser := newBrowser(t, s.gateways[0].url(), viewerAddress)
	browser.login(userViewer, passwordOf(userViewer), "")
	step(t, "the console and rscctl show it", func() {
		page := browser.shows("/console/system").text
		for _, text := range []string{s.coordinators[0].url(), s.coordinators[1].url(), s.monitor.url(), "observe.interval", "secret, not shown"} {
			require.Contains(t, page, text)
		}
		require.NotContains(t, page, "does not tell what it is")
		require.NotContains(t, page, "canary")
		shown := s.rscctl(viewer, "system", "--settings")
		require.Zero(t, shown.code, shown.text)
		require.Contains(t, shown.text, "observe.interval")
		require.NotContains(t, shown.text, "canary")
	})
	step(t, "a coordinator that was killed is told as one that does not answer", func() {
		dead := s.coordinators[0]
		dead.kill()
		s.eventuallySystem(viewer, func(parts []protocol.SystemPart) bool {
			silent := silentIn(parts)
			return len(parts) == 5 && len(silent) == 1 && *silent[0].Address == dead.url() && strings.Contains(*silent[0].Problem, "cannot be reached")
		}, "one part does not answer")
		require.Eventually(t, func() bool {
			page := browser.shows("/console/system").text
			return strings.Contains(page, "Coordinator "+dead.url()+" does not tell what it is") && strings.Contains(page, "What to do")
		}, patience, seldom)
		shown := s.rscctl(viewer, "system")
		require.Equal(t, 1, shown.code, shown.text)
		require.Contains(t, shown.text, "problem: coordinator at "+dead.url()+" cannot be reached")
	})
}

// systemIsWhole looks at what is told of each process.
func (s *consoled) systemIsWhole(token string) {
	s.t.Helper()
	got := s.passes(guardedCall{path: api("/system"), token: token}, http.StatusOK)
	require.NotContains(s.t, string(got.body), "canary")
	var said protocol.SystemResponse
	got.decode(s.t, &said)
	var told []string
	instances := map[string]bool{}
	for _, part := range said.Parts {
		address := ""
		if part.Address != nil {
			address = *part.Address
		}
		told = append(told, part.Service+" "+address)
		instances[part.Process.Instance] = true
		require.NotEmpty(s.t, part.Process.Version.GoVersion)
		require.False(s.t, part.Process.StartedAt.IsZero())
		require.Contains(s.t, part.Process.Configuration, protocol.SystemSetting{Key: "api.base-path", Value: protocol.BasePath})
		if part.Service != protocol.ServiceConsole { // it has no Redis
			require.Contains(s.t, part.Process.Configuration, protocol.SystemSetting{Key: "redis.password", Value: "********", Masked: true})
		}
	}
	require.Len(s.t, instances, 5)
	require.Equal(s.t, []string{
		"gateway ", "coordinator " + s.coordinators[0].url(), "coordinator " + s.coordinators[1].url(), "monitor " + s.monitor.url(), "console " + s.console.url(),
	}, told)
}

// eventuallySystem waits until the gateway tells of parts as wanted: a process may be too busy to
// answer in time.
func (s *consoled) eventuallySystem(token string, wanted func([]protocol.SystemPart) bool, what string) {
	s.t.Helper()
	var last struct{ said string }
	require.Eventually(s.t, func() bool {
		got, err := s.send(s.gateways[0], guardedCall{path: api("/system"), token: token})
		var said protocol.SystemResponse
		if err != nil || got.status != http.StatusOK || json.Unmarshal(got.body, &said) != nil {
			return false
		}
		last.said = string(got.body)
		return wanted(said.Parts)
	}, patience, seldom, "%s: %+v", what, &last)
}

// silentIn are the parts that do not answer.
func silentIn(parts []protocol.SystemPart) (silent []protocol.SystemPart) {
	for _, part := range parts {
		if part.Process == nil {
			silent = append(silent, part)
		}
	}
	return silent
}
