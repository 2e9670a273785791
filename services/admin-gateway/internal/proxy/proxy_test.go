package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Gateway, Proxy; reliability section 5: the upstream gets a rebuilt request, never the raw one.
func TestAServiceGetsTheRequestWrittenAnew(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answer := g.call(t, "POST", base+"/%73treams/a%3Ab/scale?z=1&dry%52un=true", `{"targetShardCount":4}`,
		"X-Request-Id: my-id", "Accept: application/json", "User-Agent: tester", "Traceparent: 00-1-2-01", "Baggage: a=b", "Cookie: a=b", "Idempotency-Key: k", "Authorization: Basic c2VjcmV0OnNlY3JldA==")
	require.Equal(t, 200, answer.status)
	require.Equal(t, []string{"my-id"}, answer.header.Values("X-Request-Id"))
	seen := up.requests()
	require.Len(t, seen, 1)
	require.Equal(t, base+"/streams/a:b/scale?dryRun=true&z=1", seen[0].target)
	require.Equal(t, up.address(), seen[0].host)
	require.Equal(t, `{"targetShardCount":4}`, seen[0].body)
	require.Equal(t, int64(len(seen[0].body)), seen[0].length)
	require.Contains(t, seen[0].header.Get("Authorization"), "Bearer ")
	seen[0].header.Del("Authorization")
	require.Equal(t, http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "Content-Length": {"22"}, "User-Agent": {"tester"},
		"X-Request-Id": {"my-id"},
	}, seen[0].header)
	require.Equal(t, up.address(), g.exchange().Upstream)
	require.Empty(t, g.exchange().Code)
}

// Gateway, Authentication: the caller's credential is replaced.
func TestAServiceGetsATokenForTheRequest(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	who := auth.Principal{Name: "ops", Roles: auth.Read | auth.Write, Scopes: []auth.Scope{"orders*"}}
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}, principal: who})
	for range 2 {
		require.Equal(t, 200, g.call(t, "POST", scale, "{}", "X-Request-Id: my-id").status)
	}
	seen := up.requests()
	claims := g.claims(t, seen[0], auth.AudienceCoordinator)
	require.Equal(t, who, claims.Principal())
	require.Equal(t, "my-id", claims.RequestID)
	require.Equal(t, time.Minute, claims.ExpiresAt.Sub(claims.IssuedAt))
	require.NotEqual(t, claims.ID, g.claims(t, seen[1], auth.AudienceCoordinator).ID, "each mutation has its own")
	_, err := auth.NewVerifier(g.keys, clock.Now, auth.AudienceAPI).Verify(t.Context(), seen[0].header.Get("Authorization")[7:])
	require.ErrorIs(t, err, auth.ErrToken, "it opens nothing at the gateway")
}

func TestWhoNeedsNoCredentialIsAMember(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	for name, who := range map[string]auth.Principal{
		"anonymous": {}, "reader": {Name: "reader", Roles: auth.Read}, "member": {Name: "member", Roles: auth.Member},
		"scoped": {Name: "scoped", Roles: auth.Member, Scopes: []auth.Scope{"other"}},
	} {
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}, principal: who})
		require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
		seen := up.requests()
		claims := g.claims(t, seen[len(seen)-1], auth.AudienceCoordinator)
		require.Equal(t, name, claims.Subject)
		require.Equal(t, auth.Member, claims.Roles)
		require.True(t, claims.Principal().May(auth.Member, "orders"))
	}
}

// A token of reads is used again for some seconds, but never for another right or user.
func TestTokensOfReadsAreUsedAgainForSomeSeconds(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	var now clockHand
	now.set(clock.Now())
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}, now: now.now})
	token := func() string {
		g.call(t, "POST", beat, newBeat)
		seen := up.requests()
		return seen[len(seen)-1].header.Get("Authorization")
	}
	first := token()
	now.add(19 * time.Second)
	require.Equal(t, first, token())
	now.add(2 * time.Second)
	require.NotEqual(t, first, token())
}

func TestAnswersArePassedOnWithAllowedHeadersOnly(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range map[string]string{
			"Content-Type": "application/json", "ETag": `"x"`, "Cache-Control": "no-cache", "Location": "http://evil.example/", "Set-Cookie": "a=b",
			"Server": "x", "X-Request-Id": "theirs", "Access-Control-Allow-Origin": "*", "Trailer": "X-Late", "Connection": "X-Hop", "X-Hop": "1", "Refresh": "0",
		} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"a":1}`)
		w.Header().Set("X-Late", "1")
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answer := g.call(t, "GET", base+"/streams", "", "X-Request-Id: mine")
	require.Equal(t, said{201, answer.header, `{"a":1}`}, answer)
	answer.header.Del("Date")
	answer.header.Del("Content-Length")
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Etag": {`"x"`}, "Cache-Control": {"no-cache"}, "X-Request-Id": {"mine"}, "X-Content-Type-Options": {"nosniff"}}, answer.header)
}

func TestA304AndHEADHaveNoBody(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	require.Equal(t, 304, g.call(t, "GET", group+"/producer-routing", "", `If-None-Match: "x"`).status)
	answer := g.call(t, "HEAD", base+"/streams", "")
	require.Equal(t, 200, answer.status)
	require.Empty(t, answer.body)
	require.Equal(t, "GET", up.requests()[1].method)
}

// Reliability section 5: redirects not followed, and none passed on.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := startUpstream(t, nil)
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answer := g.call(t, "GET", base+"/streams", "")
	requireRefusal(t, protocol.CodeUpstreamFailed, answer)
	require.Empty(t, answer.header.Get("Location"))
	require.Empty(t, other.requests())
	require.Equal(t, protocol.CodeUpstreamFailed, g.exchange().Code)
}

func TestARefusalOfAServiceIsPassedOnAsItIs(t *testing.T) {
	t.Parallel()
	for _, code := range []protocol.Code{protocol.CodeGroupNotFound, protocol.CodeStoreUnavailable, protocol.CodeInternal, protocol.CodeActiveMigrationExists} {
		up := startUpstream(t, refuseWith(code))
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
		answer := g.call(t, "POST", scale, "{}")
		require.Equal(t, protocol.FaultOf(code).Status, answer.status)
		require.Contains(t, answer.body, "said by the service")
		require.Contains(t, answer.body, string(code))
		require.Empty(t, g.exchange().Code, "the service refused, not the gateway")
	}
}

// Gateway, Proxy: upstream failure is 502 in our shape, whatever the upstream has said.
func TestAnAnswerThatIsNoneIsAFailure(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"500 of text": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "stack trace", 500) },
		"503 of HTML": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(503)
		},
		"500 of other JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(500)
			_, _ = io.WriteString(w, `{"secret":"x"}`)
		},
		"404 of text": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"101":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(101) },
		"302":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) },
		"401":         refuseWith(protocol.CodeUnauthorized),
		"500 without an end": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 4096))
			}
		},
	} {
		up := startUpstream(t, answer)
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
		refusal := requireRefusal(t, protocol.CodeUpstreamFailed, g.call(t, "GET", base+"/streams", ""))
		require.NotContains(t, refusal.Message, "stack trace", name)
	}
}

func TestAServiceWithoutInstancesIsUnavailable(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answer := g.call(t, "GET", base+"/monitoring/grafana/groups", "")
	require.Contains(t, requireRefusal(t, protocol.CodeUpstreamUnavailable, answer).Message, "no monitor configured")
	require.Empty(t, g.exchange().Upstream)
}

func TestUpstreamsAreHostsAndNothingElse(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "coordinator:8081", "//coordinator", "ftp://c", "http://", "http://u:hidden@c", "http://c/path", "http://c?x=1", "http://c#f", "http:c", "http://c:x", "unix:///tmp/s"} {
		_, err := proxy.New(proxy.Config{Upstreams: coordinators("http://good:1", bad)}, proxy.Deps{})
		require.ErrorContains(t, err, "upstream 2 of the coordinator", bad)
		require.NotContains(t, err.Error(), "hidden")
	}
	_, err := proxy.New(proxy.Config{Upstreams: upstreams(route.Gateway, "http://a")}, proxy.Deps{})
	require.Error(t, err)
	for _, good := range []string{"http://c", "https://c:1/", "http://[::1]:8081"} {
		_, err := proxy.New(proxy.Config{Upstreams: coordinators(good)}, proxy.Deps{})
		require.NoError(t, err)
	}
}

// What a service says before its answer is not for the caller, and must not take away what
// the gateway has said itself.
func TestAnswersBeforeTheAnswerAreNotPassedOn(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</evil>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "{}")
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answers := g.raw(t, request("GET "+base+"/streams HTTP/1.1", "", host, "X-Request-Id: mine"))
	require.Len(t, answers, 1)
	require.Equal(t, 200, answers[0].status)
	require.Equal(t, "mine", answers[0].header.Get("X-Request-Id"))
	require.Empty(t, answers[0].header.Get("Link"))
}

// A caller must not make a service refuse the request that the gateway writes.
func TestLongHeadersAreLeftOut(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	long := strings.Repeat("x", 5000)
	require.Equal(t, 200, g.call(t, "GET", base+"/streams", "", "User-Agent: "+long, "Tracestate: "+long[:3000], "Tracestate: "+long[:3000], "Accept: */*").status)
	seen := up.requests()[0].header
	require.Equal(t, "*/*", seen.Get("Accept"))
	require.Empty(t, seen.Get("User-Agent"))
	require.Empty(t, seen.Get("Tracestate"))
}

func TestTheConsoleAnswersForItself(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("p", 100<<10)
	for _, status := range []int{200, 401, 404} {
		up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, long)
		})
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}, principal: auth.Principal{Name: "ops", Roles: auth.Read}})
		answer := g.call(t, "GET", "/console/streams", "")
		require.Equal(t, status, answer.status)
		require.Equal(t, long, answer.body)
		require.Equal(t, "default-src 'self'", answer.header.Get("Content-Security-Policy"))
		require.Equal(t, "ops", g.claims(t, up.requests()[0], auth.AudienceWeb).Subject)
	}
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "stack trace", http.StatusInternalServerError)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}})
	requireRefusal(t, protocol.CodeUpstreamFailed, g.call(t, "GET", "/console", ""))
}
