package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
)

// Reliability section 5, Rate limit and proxy: request smuggling. Every text ends in a
// mutation that must reach nobody as a request of its own, unless both readers agree that it
// is one; what goes on has the length of what was read.
const (
	host     = "Host: gateway"
	isJSON   = "Content-Type: application/json"
	chunks   = "Transfer-Encoding: chunked"
	smuggled = "DELETE " + base + "/streams/orders HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
)

// requireNothingSmuggled holds that no request but heartbeats with one of the bodies came.
func requireNothingSmuggled(t *testing.T, up *upstream, bodies ...string) {
	t.Helper()
	for _, seen := range up.requests() {
		require.Equal(t, "POST "+beat, seen.method+" "+seen.target)
		require.Contains(t, bodies, seen.body)
		require.Equal(t, int64(len(seen.body)), seen.length, "sent with the length of what was read")
		require.Empty(t, seen.header.Get("Transfer-Encoding"))
	}
}

func smuggling(t *testing.T) (*upstream, *gateway) {
	t.Helper()
	up := startUpstream(t, nil)
	return up, startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
}

// Content-Length covers the smuggled request, the chunks end before it.
func TestSmugglingCLTE(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(newBeat), newBeat)
	answers := g.raw(t, request("POST "+beat+" HTTP/1.1", body+smuggled, host, isJSON, lengthOf(body+smuggled), chunks))
	require.Len(t, answers, 1, "the connection is not used any more")
	require.Equal(t, 200, answers[0].status)
	requireNothingSmuggled(t, up, newBeat)
}

// The chunks cover the smuggled request, Content-Length ends before it.
func TestSmugglingTECL(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled)
	answers := g.raw(t, request("POST "+beat+" HTTP/1.1", body, host, isJSON, "Content-Length: 4", chunks))
	require.Len(t, answers, 1)
	requireNothingSmuggled(t, up, smuggled) // it is a body, and the coordinator's to refuse
}

// Transfer-Encoding in a form that one of two readers might not see.
func TestSmugglingTETE(t *testing.T) {
	t.Parallel()
	body := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(newBeat), newBeat)
	for name, heads := range map[string][]string{
		"cow":               {"Transfer-Encoding: cow"},
		"chunked, cow":      {chunks, "Transfer-Encoding: cow"},
		"xchunked":          {"Transfer-Encoding: xchunked"},
		"identity":          {"Transfer-Encoding: identity"},
		"list":              {"Transfer-Encoding: gzip, chunked"},
		"twice":             {chunks, chunks},
		"blank before":      {"Transfer-Encoding : chunked"},
		"vertical tab":      {"Transfer-Encoding: \x0bchunked"},
		"quoted":            {`Transfer-Encoding: "chunked"`},
		"folded":            {"Transfer-Encoding:", " chunked"},
		"in another header": {"X: X[\n" + chunks},
		"underscore":        {"Transfer_Encoding: chunked"},
	} {
		up, g := smuggling(t)
		head := append([]string{host, isJSON, "Content-Length: 4"}, heads...)
		answers := g.raw(t, request("POST "+beat+" HTTP/1.1", body+smuggled, head...))
		require.NotEmpty(t, answers, name)
		for _, seen := range up.requests() {
			require.Equal(t, "POST", seen.method, name)
			require.Equal(t, int64(len(seen.body)), seen.length, name)
		}
	}
}

// A body where the front sees one and the back none, and the other way round.
func TestSmugglingCL0(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	answers := g.raw(t, request("GET "+base+"/streams HTTP/1.1", smuggled, host, lengthOf(smuggled)))
	require.Len(t, answers, 1, "the body is no request")
	requireRefusal(t, protocol.CodeInvalidRequest, answers[0])
	answers = g.raw(t, request("GET "+base+"/streams HTTP/1.1", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled), host, chunks))
	require.Len(t, answers, 1)
	requireRefusal(t, protocol.CodeInvalidRequest, answers[0])
	answers = g.raw(t, request("POST "+beat+" HTTP/1.1", smuggled, host, isJSON, lengthOf(smuggled), "Expect: 100-continue"))
	require.NotEmpty(t, answers)
	requireNothingSmuggled(t, up, smuggled)
}

// A request that an upstream of HTTP/1.1 gets from HTTP/1.0, or with headers of HTTP/2, is framed anew too.
func TestSmugglingByAnotherVersion(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	for _, text := range []string{
		request("POST "+beat+" HTTP/1.0", newBeat, isJSON, lengthOf(newBeat), "Connection: keep-alive"),
		request("POST "+beat+" HTTP/1.0", newBeat, isJSON, lengthOf(newBeat), chunks),
		request("POST "+beat+" HTTP/1.1", newBeat, host, isJSON, lengthOf(newBeat), ":method: DELETE"),
		request("POST "+beat+" HTTP/1.1", newBeat, host, isJSON, lengthOf(newBeat), "Trailer: Content-Length"),
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		g.raw(t, text)
	}
	for _, seen := range up.requests() {
		require.Equal(t, "POST "+beat, seen.method+" "+seen.target)
		require.Equal(t, int64(len(seen.body)), seen.length)
		require.Empty(t, seen.header.Get("Trailer"))
	}
}

func TestAHeaderWithAnUnderscoreIsNotPassedOn(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat, "X_Forwarded_User: admin", "Content_Length: 3", "X_Request_Id: theirs", "Accept_: x").status)
	for name := range up.requests()[0].header {
		require.NotContains(t, name, "_")
	}
}

// Hop-by-hop: a caller must not take away what the gateway adds, nor have its own headers
// passed on.
func TestConnectionAuthorizationTakesNothingAway(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	for _, hop := range []string{"Authorization", "authorization, X-Request-Id, Content-Length, Content-Type", "close, Authorization", "Host"} {
		answers := g.raw(t, request("POST "+beat+" HTTP/1.1", newBeat, host, isJSON, lengthOf(newBeat), "Connection: "+hop, "X-Request-Id: mine"))
		require.Len(t, answers, 1)
		require.Equal(t, 200, answers[0].status)
	}
	for _, seen := range up.requests() {
		require.Equal(t, "anonymous", g.claims(t, seen, "coordinator").Subject)
		require.Equal(t, "mine", seen.header.Get("X-Request-Id"))
		require.JSONEq(t, newBeat, seen.body)
		require.Empty(t, seen.header["Connection"])
	}
}

func TestIdentityHeadersOfCallersAreStripped(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	heads := []string{
		"X-Forwarded-For", "X-Real-Ip", "Forwarded", "True-Client-Ip", "X-Forwarded-User", "X-User", "X-Roles", "X-Remote-User", "Remote-User", "X-Auth-Request-User",
		"Cookie", "X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Host", "X-Forwarded-Prefix", "Via", "Proxy-Authorization", "X-Amzn-Trace-Id", "Te", "Range", "Origin", "Referer", "X-Csrf-Token", "Idempotency-Key",
	}
	lines := []string{"Authorization: Bearer x.y.z"}
	for _, name := range heads {
		lines = append(lines, name+": admin")
	}
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat, lines...).status)
	seen := up.requests()[0]
	for _, name := range heads {
		require.Empty(t, seen.header.Values(name), name)
	}
	require.Len(t, seen.header.Values("Authorization"), 1)
	require.NotContains(t, seen.header.Get("Authorization"), "x.y.z")
}

// Reliability section 5: encoded paths never reach a service in the caller's form.
func TestPathTraversalReachesNoService(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	for _, path := range []string{
		"/streams/..%2f..%2finternal/groups", "/streams/%2e%2e/groups/g", "/streams/%252e%252e/groups/g", "/streams/a%00/groups/g", `/streams/..\..\internal`,
		"/streams/..%5c..%5cinternal", "/../internal/groups", "/streams/./orders", "//streams", "/streams/orders/", "/streams/orders/%2e", "/streams/%c0%ae%c0%ae/groups/g",
		"/streams/..;/internal", "/streams/orders;x=y", "/streams/%2e%2e%2fhealthz", "/streams/.%2e/x", "/internal/groups", "/console/../coord/v1/streams",
	} {
		answers := g.raw(t, request("GET "+base+path+" HTTP/1.1", "", host))
		require.Len(t, answers, 1, path)
		require.Contains(t, []int{400, 404}, answers[0].status, path)
		require.Empty(t, answers[0].header.Get("Location"))
	}
	require.Empty(t, up.requests())
}

// SSRF: where a request goes is configuration, whatever target or Host it names.
func TestTheTargetOfACallerIsNoUpstream(t *testing.T) {
	t.Parallel()
	other := startUpstream(t, nil)
	up, g := smuggling(t)
	for _, text := range []string{
		request("GET "+other.URL+base+"/streams HTTP/1.1", "", "Host: "+other.address()),
		request("GET "+other.URL+base+"/streams HTTP/1.1", "", host),
		request("GET http://user:pass@"+other.address()+base+"/streams HTTP/1.1", "", host),
		request("GET "+base+"/streams HTTP/1.1", "", "Host: "+other.address()),
		request("GET "+base+"/streams HTTP/1.1", "", host, "X-Forwarded-Host: "+other.address(), "X-Original-URL: "+other.URL),
		request("CONNECT "+other.address()+" HTTP/1.1", "", "Host: "+other.address()),
		request("GET @"+other.address()+base+"/streams HTTP/1.1", "", host),
		request("GET file:///etc/passwd HTTP/1.1", "", host),
		request("GET //"+other.address()+base+"/streams HTTP/1.1", "", host),
	} {
		g.raw(t, text)
	}
	require.Empty(t, other.requests())
	for _, seen := range up.requests() {
		require.Equal(t, up.address(), seen.host)
		require.Equal(t, base+"/streams", seen.target)
	}
}

func TestMethodOverridesAreIgnored(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Method"} {
		require.Equal(t, 200, g.call(t, "GET", base+"/streams/orders?_method=DELETE", "", name+": DELETE").status)
	}
	for _, seen := range up.requests() {
		require.Equal(t, "GET", seen.method)
		require.Len(t, seen.header, 3, "Authorization, X-Request-Id and User-Agent")
	}
}

// An upgrade is not taken: the request is answered as one of HTTP/1.1, and its connection
// never becomes a tunnel to a service.
func TestUpgradesAreNotPassedOn(t *testing.T) {
	t.Parallel()
	up, g := smuggling(t)
	for _, to := range []string{"h2c", "websocket", "TLS/1.0", "h2c, websocket"} {
		answers := g.raw(t, request("GET "+base+"/streams HTTP/1.1", "", host, "Connection: Upgrade, HTTP2-Settings", "Upgrade: "+to, "HTTP2-Settings: AAMAAABkAAQAAP__"))
		require.Len(t, answers, 1)
		require.Equal(t, http.StatusOK, answers[0].status)
		require.Empty(t, answers[0].header.Get("Upgrade"))
	}
	for _, seen := range up.requests() {
		for name := range seen.header {
			require.False(t, strings.EqualFold(name, "Upgrade") || strings.HasPrefix(strings.ToLower(name), "http2"), name)
		}
	}
}
