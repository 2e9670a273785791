package route_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	base   = protocol.BasePath
	orders = base + "/streams/orders"
	group  = orders + "/groups/billing"
	shown  = base + "/monitoring/streams/orders/groups/billing"
)

func requireCode(t *testing.T, code protocol.Code, err error) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code, refusal.Message)
}

// Wire contract, Endpoints and Who serves what; gateway, Roles.
func TestEveryEndpointIsKnownWithItsServiceAndRights(t *testing.T) {
	t.Parallel()
	const (
		get, post, del = http.MethodGet, http.MethodPost, http.MethodDelete
		admin          = 64 << 10
	)
	read, write := route.Access{Roles: auth.Read}, route.Access{Roles: auth.Write}
	narrowed := route.Access{Roles: auth.Read, Narrowed: true}
	public, login := route.Access{Public: true}, route.Access{Public: true, Login: true}
	member := route.Access{Roles: auth.Member, MemberAPI: true}
	tests := []struct {
		method, path string
		service      route.Service
		access       route.Access
		mutation     bool
		maxBody      int64
	}{
		{get, base + "/streams", route.Coordinator, read, false, 0},
		{get, orders, route.Coordinator, read, false, 0},
		{post, orders, route.Coordinator, write, true, admin},
		{del, orders, route.Coordinator, write, true, admin},
		{post, orders + "/scale", route.Coordinator, write, true, admin},
		{get, group, route.Coordinator, read, false, 0},
		{post, group, route.Coordinator, write, true, admin},
		{del, group, route.Coordinator, write, true, admin},
		{post, group + "/scale", route.Coordinator, write, true, admin},
		{post, group + "/barrier", route.Coordinator, write, true, admin},
		{post, group + "/members/m-1/fence", route.Coordinator, write, true, admin},
		{get, group + "/events", route.Coordinator, read, false, 0},
		{get, group + "/migrations/r-1", route.Coordinator, read, false, 0},
		{post, group + "/migrations/r-1/rollback", route.Coordinator, write, true, admin},
		{post, group + "/migrations/r-1/confirm-drain", route.Coordinator, write, true, admin},
		{post, base + "/admin/repair-index", route.Coordinator, route.Access{Roles: auth.Write, Global: true}, true, admin},

		{post, group + "/members/m-1/heartbeat", route.Coordinator, member, false, 256 << 10},
		{post, group + "/heartbeats", route.Coordinator, member, false, 256 << 10},
		{get, group + "/producer-routing", route.Coordinator, route.Access{Roles: auth.Member | auth.Read, MemberAPI: true}, false, 0},

		{post, base + "/auth/login", route.Gateway, login, false, 16 << 10},
		{post, base + "/auth/logout", route.Gateway, route.Access{}, false, 0},
		{get, base + "/audit", route.Gateway, read, false, 0},
		{get, base + "/system", route.Gateway, route.Access{Roles: auth.Read, Global: true}, false, 0},
		{get, base + "/monitoring/session", route.Gateway, public, false, 0},
		{get, "/.well-known/jwks.json", route.Gateway, public, false, 0},
		{get, "/openapi.json", route.Gateway, public, false, 0},
		{get, "/docs", route.Gateway, public, false, 0},
		{get, "/docs/swagger-ui.css", route.Gateway, public, false, 0},
		{get, "/healthz", route.Gateway, public, false, 0},
		{get, "/readyz", route.Gateway, public, false, 0},
		{get, "/version", route.Gateway, public, false, 0},
		{get, "/console", route.Web, public, false, 0},
		{get, "/console/streams/orders:eu", route.Web, public, false, 0},
		{get, "/console/login", route.Web, public, false, 0},
		{get, "/console/live", route.Web, public, false, 0},
		{get, "/console/audit.csv", route.Web, public, false, 0},
		{get, "/console/audit.ndjson", route.Web, public, false, 0},
		{post, "/console/login", route.Gateway, login, false, 16 << 10},
		{post, "/console/logout", route.Gateway, public, false, 16 << 10},
		{post, "/console/streams/orders:eu/scale", route.Web, public, false, admin},

		{get, base + "/monitoring/health", route.Coordinator, read, false, 0},
		{get, base + "/monitoring/compatibility", route.Coordinator, read, false, 0},
		{get, base + "/monitoring/groups", route.Coordinator, read, false, 0},
		{get, shown, route.Coordinator, read, false, 0},
		{get, shown + "/members", route.Coordinator, read, false, 0},
		{get, shown + "/assignments", route.Coordinator, read, false, 0},
		{get, shown + "/migrations", route.Coordinator, read, false, 0},
		{get, shown + "/consumption", route.Monitor, read, false, 0},
		{get, shown + "/offsets", route.Monitor, read, false, 0},
		{get, shown + "/shards/12/messages", route.Monitor, read, false, 0},
		{get, shown + "/shards/12/pending", route.Monitor, read, false, 0},
		{get, base + "/monitoring/stream", route.Monitor, narrowed, false, 0},
		{get, base + "/monitoring/grafana/groups", route.Monitor, narrowed, false, 0},
		{get, base + "/monitoring/grafana/options/streams", route.Monitor, narrowed, false, 0},
		{get, base + "/monitoring/grafana/options/consumer-groups", route.Monitor, narrowed, false, 0},
		{get, base + "/monitoring/grafana/options/shards", route.Monitor, read, false, 0},
		{get, base + "/monitoring/grafana/members", route.Monitor, read, false, 0},
		{get, base + "/monitoring/grafana/shards", route.Monitor, read, false, 0},
		{get, base + "/monitoring/grafana/assignments", route.Monitor, read, false, 0},
		{get, base + "/monitoring/grafana/messages", route.Monitor, read, false, 0},
	}
	table := route.New(route.Config{})
	for _, test := range tests {
		found, err := table.Match(test.method, test.path, "")
		require.NoError(t, err, test.path)
		require.Equal(t, test.service, found.Service, test.path)
		require.Equal(t, test.access, found.Access, test.path)
		require.Equal(t, test.mutation, found.Mutation, test.path)
		require.Equal(t, test.maxBody, found.MaxBody, test.path)
		require.Equal(t, test.method, found.Method)
		require.Equal(t, test.path, found.Path)
		require.NotEmpty(t, found.Operation)
		require.Equal(t, strings.HasSuffix(test.path, "/monitoring/stream") || test.path == "/console/live" || strings.HasPrefix(test.path, "/console/audit."), found.Streams, test.path)
		require.Equal(t, test.method == post && strings.HasPrefix(test.path, "/console/"), found.Form, test.path)
	}
}

// Wire contract, Who serves what.
func TestAMonitorServesMonitoringButHealthAndCompatibility(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{Monitor: true})
	for path, service := range map[string]route.Service{
		base + "/monitoring/groups": route.Monitor, shown: route.Monitor, shown + "/members": route.Monitor,
		shown + "/assignments": route.Monitor, shown + "/migrations": route.Monitor,
		base + "/monitoring/health": route.Coordinator, base + "/monitoring/compatibility": route.Coordinator,
		base + "/monitoring/session": route.Gateway, group: route.Coordinator,
	} {
		found, err := table.Match(http.MethodGet, path, "")
		require.NoError(t, err)
		require.Equal(t, service, found.Service, path)
		require.Equal(t, path == base+"/monitoring/groups", found.Access.Narrowed, "what the monitor answers about all streams is cut to the scopes")
	}
	found, err := route.New(route.Config{}).Match(http.MethodGet, base+"/monitoring/groups", "")
	require.NoError(t, err)
	require.False(t, found.Access.Narrowed, "the coordinator cuts nothing")
}

func TestNamesOfThePathAreKept(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	found, err := table.Match(http.MethodPost, base+"/%73treams/a%3Ab/groups/%62illing/members/fd00%3A%3A1/fence", "")
	require.NoError(t, err)
	require.Equal(t, []string{"a:b", "billing", "fd00::1"}, []string{found.Stream, found.Group, found.Member})
	require.Equal(t, base+"/streams/a:b/groups/billing/members/fd00::1/fence", found.Path, "decoded once, and written anew")
	require.Equal(t, base+"/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/fence", found.Pattern)

	found, err = table.Match(http.MethodGet, group+"/migrations/01J-x", "")
	require.NoError(t, err)
	require.Equal(t, "01J-x", found.Resharding)
}

// Reliability section 5, Rate limit and proxy: path traversal.
func TestPathsThatTwoReadersTakeDifferentlyAreRefused(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	for _, path := range []string{
		"", "coord", base + "/streams/a%2Fb", base + "/streams/a%2fb/groups/g", base + "/streams/a%252Fb", base + "/streams/%2e%2e",
		base + "/streams/%2E%2E/groups/g", base + "/streams/..%2f..%2fhealthz", base + "/streams/%252e%252e",
		base + "/streams/a%5Cb", base + `/streams/a\b`, base + "/streams/a%00", base + "/streams/../streams/orders", base + "/streams/./orders",
		base + "//streams/orders", base + "/streams//groups/g", base + "/streams/orders/", base + "/streams/",
		"//coord/v1/streams", "/coord%2Fv1/streams", "/coord%5Cv1/streams", "/coord%2500/streams", "/coord%00/streams",
		group + "/..", "/%2e%2e/healthz", "/healthz/", base + "/streams/%zz", base + "/streams/%", base + "/streams/a%2",
		"/console/../coord/v1/streams", "/console/%2e%2e/x", "/docs/..%2fopenapi.json", "/console/a%0d%0ab", "/console/a;b", "/console/" + strings.Repeat("x", 201),
		base + "/streams/" + protocol.DefaultKeyPrefix, base + "/streams/orders/groups/a:b", base + "/streams/a%0Ab", base + "/streams/*",
		shown + "/shards/01/messages", shown + "/shards/-1/messages", shown + "/shards/+1/messages", shown + "/shards/99999999/messages", shown + "/shards/x/messages",
	} {
		_, err := table.Match(http.MethodGet, path, "")
		requireCode(t, protocol.CodeInvalidRequest, err)
	}
}

func TestUnknownPathsAreNotFound(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	for _, path := range []string{"/", "*", "/nothing", "/coord", base, base + "/nothing", orders + "/groups", base + "/Streams/orders", group + "/migrations", base + "/admin", "/metrics", "/internal/groups", base + "/internal/groups", "/debug/pprof", "/streams", base + "/healthz"} {
		_, err := table.Match(http.MethodGet, path, "")
		requireCode(t, protocol.CodeNotFound, err)
		require.Empty(t, table.Allowed(path))
	}
	_, err := table.Match(http.MethodGet, group+"/migrations/no_such", "")
	requireCode(t, protocol.CodeMigrationNotFound, err)
}

func TestOtherMethodsAreRefusedAndTheRightOnesNamed(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	for path, allowed := range map[string][]string{
		orders: {"GET", "HEAD", "POST", "DELETE"}, orders + "/scale": {"POST"}, base + "/streams": {"GET", "HEAD"},
		base + "/monitoring/stream": {"GET"}, group + "/heartbeats": {"POST"}, "/console/x": {"GET", "HEAD", "POST"},
	} {
		for _, method := range []string{"PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "BREW", ""} {
			_, err := table.Match(method, path, "")
			requireCode(t, protocol.CodeMethodNotAllowed, err)
		}
		require.Equal(t, allowed, table.Allowed(path), path)
	}
	require.Nil(t, table.Allowed("/a//b"))
	_, err := table.Match(http.MethodHead, base+"/monitoring/stream", "")
	requireCode(t, protocol.CodeMethodNotAllowed, err)
	found, err := table.Match(http.MethodHead, base+"/streams", "")
	require.NoError(t, err)
	require.Equal(t, http.MethodGet, found.Method, "HEAD is taken as GET")
}

func TestTheQueryIsWrittenAnew(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	found, err := table.Match(http.MethodGet, base+"/streams", "b=%41&a=1+2&a=%0A")
	require.NoError(t, err)
	require.Equal(t, "a=1+2&a=%0A&b=A", found.Query)
	for _, query := range []string{"a=1;b=2", "a=%zz", ";", "%", "a=" + strings.Repeat("x", 8<<10), strings.Repeat("ä", 2<<10)} {
		_, err := table.Match(http.MethodGet, base+"/streams", query)
		requireCode(t, protocol.CodeInvalidRequest, err)
	}
}

// Gateway, Roles: rights go by the names that the service reads.
func TestNamesOfTheQueryAreKeptWhereTheServiceGoesByThem(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	named := []string{
		"/audit", "/monitoring/grafana/members", "/monitoring/grafana/shards", "/monitoring/grafana/assignments",
		"/monitoring/grafana/messages", "/monitoring/grafana/options/shards", "/monitoring/grafana/options/consumer-groups",
		"/monitoring/stream",
	}
	for _, path := range named {
		found, err := table.Match(http.MethodGet, base+path, "streamPrefix=a%3Ab&consumerGroup=g&x=1")
		require.NoError(t, err)
		require.Equal(t, []string{"a:b", "g"}, []string{found.Stream, found.Group}, path)
		found, err = table.Match(http.MethodGet, base+path, "streamPrefix=")
		require.NoError(t, err)
		require.Empty(t, found.Stream)
		for _, query := range []string{
			"streamPrefix=a&streamPrefix=b", "streamPrefix=&streamPrefix=b", "StreamPrefix=a", "STREAMPREFIX=a&streamPrefix=b", "streamPrefix=a/b", "streamPrefix=..",
			"consumerGroup=a:b", "consumerGroup=a&consumerGroup=a", "streamPrefix=redis-stream:coord", "streamPrefix=a%00",
		} {
			_, err := table.Match(http.MethodGet, base+path, query)
			requireCode(t, protocol.CodeInvalidRequest, err)
		}
	}
	// What a service does not read must give no rights.
	for _, path := range []string{"/streams", "/monitoring/groups", "/monitoring/grafana/groups", "/monitoring/grafana/options/streams"} {
		found, err := table.Match(http.MethodGet, base+path, "streamPrefix=orders")
		require.NoError(t, err)
		require.Empty(t, found.Stream, path)
	}
	found, err := table.Match(http.MethodGet, group, "streamPrefix=other&consumerGroup=x")
	require.NoError(t, err)
	require.Equal(t, []string{"orders", "billing"}, []string{found.Stream, found.Group}, "the path's stay")
}

// Protocol L11: a dry run must never become a real one.
func TestDryRunIsReadAsTheCoordinatorReadsIt(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{})
	for query, dry := range map[string]bool{"": false, "dryRun=true": true, "dryRun=false": false, "x=1&dry%52un=true": true} {
		found, err := table.Match(http.MethodPost, orders+"/scale", query)
		require.NoError(t, err)
		require.Equal(t, dry, found.DryRun, query)
	}
	for _, query := range []string{"dryrun=true", "dryRun=1", "dryRun=", "dryRun", "dryRun=TRUE", "dryRun=true&dryRun=false", "dryRun=true&DRYRUN=true"} {
		_, err := table.Match(http.MethodPost, orders+"/scale", query)
		requireCode(t, protocol.CodeInvalidRequest, err)
	}
}

func TestTheBasePathAndTheKeyPrefixCanBeSet(t *testing.T) {
	t.Parallel()
	table := route.New(route.Config{BasePath: "/", KeyPrefix: "mine"})
	found, err := table.Match(http.MethodGet, "/streams/redis-stream:coord", "")
	require.NoError(t, err)
	require.Equal(t, "/streams/redis-stream:coord", found.Path)
	_, err = table.Match(http.MethodGet, "/streams/mine:x", "")
	requireCode(t, protocol.CodeInvalidRequest, err)
	_, err = table.Match(http.MethodGet, base+"/streams", "")
	requireCode(t, protocol.CodeNotFound, err)

	table = route.New(route.Config{BasePath: "/a/b"})
	found, err = table.Match(http.MethodGet, "/a/b/streams", "")
	require.NoError(t, err)
	require.Equal(t, "/a/b/streams", found.Pattern)
}

// FuzzMatch holds that what a route says is what its rebuilt path says to the next reader.
func FuzzMatch(f *testing.F) {
	for _, path := range []string{
		orders, group + "/members/fd00%3A%3A1/heartbeat", base + "/%73treams/a%2fb", "/console/a:b/%7e", "/docs/x", base + "/monitoring/grafana/messages",
		shown + "/shards/3/messages", group + "/migrations/R-1/rollback", "//", "/%", "*",
	} {
		for _, query := range []string{"", "streamPrefix=a&consumerGroup=b", "dryRun=true&dryRun=1", "a=1;b", "x=%zz", "%73treamPrefix=a+b"} {
			f.Add("GET", path, query)
			f.Add("POST", path, query)
		}
	}
	table := route.New(route.Config{Monitor: true})
	f.Fuzz(func(t *testing.T, method, path, query string) {
		found, err := table.Match(method, path, query)
		if err != nil {
			var refusal *protocol.Error
			require.ErrorAs(t, err, &refusal)
			require.Less(t, protocol.FaultOf(refusal.Code).Status, 500)
			return
		}
		again, err := table.Match(found.Method, found.Path, found.Query)
		require.NoError(t, err)
		require.Equal(t, found, again)

		request, err := http.NewRequestWithContext(t.Context(), found.Method, "http://h"+found.Path+"?"+found.Query, nil)
		require.NoError(t, err)
		require.Equal(t, found.Path, request.URL.EscapedPath(), "net/http sends it as it is")
		require.Equal(t, found.Query, request.URL.RawQuery)
		if found.Stream != "" {
			require.NoError(t, protocol.CheckStreamPrefix(found.Stream, protocol.DefaultKeyPrefix))
		}
	})
}
