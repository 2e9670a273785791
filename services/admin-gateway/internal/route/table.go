package route

import (
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The largest bodies, in bytes (wire contract, Rules).
const (
	maxHeartbeat = 256 << 10
	maxLogin     = 16 << 10
	maxAdmin     = 64 << 10
)

// Parts of patterns.
const (
	streamPart  = "/streams/{" + streamParameter + "}"
	groupPart   = streamPart + "/groups/{" + groupParameter + "}"
	memberPart  = groupPart + "/members/{" + memberParameter + "}"
	reshardPart = groupPart + "/migrations/{" + reshardingParameter + "}"
	// tailPart stands for one segment or more.
	tailPart = "/*"
)

// Config is what the endpoints depend on.
type Config struct {
	// BasePath is the prefix of the API's paths; it begins with a slash and does not end in
	// one. Empty takes protocol.BasePath; "/" puts the API at the root.
	BasePath string
	// KeyPrefix is the prefix of the suite's own Redis keys, with which no stream prefix may
	// begin. Empty takes protocol.DefaultKeyPrefix.
	KeyPrefix string
	// Monitor tells that there is a monitor, which then serves groups, members, assignments
	// and migrations below monitoring too (wire contract, Who serves what).
	Monitor bool
}

// Table knows the endpoints. It does not change and is safe for concurrent use.
type Table struct {
	keyPrefix string
	root      *node
}

// New returns the table of all endpoints.
func New(config Config) *Table {
	if config.BasePath == "" {
		config.BasePath = protocol.BasePath
	}
	if config.KeyPrefix == "" {
		config.KeyPrefix = protocol.DefaultKeyPrefix
	}
	t := &Table{keyPrefix: config.KeyPrefix, root: &node{}}
	t.root.addAll("", rootEndpoints())
	t.root.addAll("", consoleEndpoints())
	base := strings.TrimSuffix(config.BasePath, "/")
	t.root.addAll(base, streamEndpoints())
	t.root.addAll(base, memberEndpoints())
	t.root.addAll(base, gatewayEndpoints())
	t.root.addAll(base, monitoringEndpoints(config.Monitor))
	return t
}

// endpoint is one line of the table.
type endpoint struct {
	operation, method, pattern string

	service  Service
	access   Access
	mutation bool
	maxBody  int64
	form     bool
	streams  bool
	// names tells that the service reads streamPrefix and consumerGroup of the query, so that
	// rights go by them.
	names bool
}

func read(operation string, by Service, pattern string) endpoint {
	return endpoint{
		operation: operation, method: http.MethodGet, pattern: pattern,
		service: by, access: Access{Roles: auth.Read},
	}
}

func change(operation, method, pattern string) endpoint {
	return endpoint{
		operation: operation, method: method, pattern: pattern,
		service: Coordinator, access: Access{Roles: auth.Write}, mutation: true, maxBody: maxAdmin,
	}
}

func public(operation, method, pattern string, by Service, maxBody int64) endpoint {
	return endpoint{
		operation: operation, method: method, pattern: pattern,
		service: by, access: Access{Public: true}, maxBody: maxBody,
	}
}

// named makes rights go by the names in the query.
func named(e endpoint) endpoint {
	e.names = true
	return e
}

// global makes an endpoint one for users without scopes.
func global(e endpoint) endpoint {
	e.access.Global = true
	return e
}

// narrowed marks what is cut to the caller's scopes by the monitor.
func narrowed(e endpoint) endpoint {
	e.access.Narrowed = true
	return e
}

// rootEndpoints are those outside of the base path.
func rootEndpoints() []endpoint {
	return []endpoint{
		public("JWKS", http.MethodGet, "/.well-known/jwks.json", Gateway, 0),
		public("OPENAPI", http.MethodGet, "/openapi.json", Gateway, 0),
		public("DOCS", http.MethodGet, "/docs", Gateway, 0),
		public("DOCS", http.MethodGet, "/docs"+tailPart, Gateway, 0),
		public("LIVE", http.MethodGet, "/healthz", Gateway, 0),
		public("READY", http.MethodGet, "/readyz", Gateway, 0),
		public("VERSION", http.MethodGet, "/version", Gateway, 0),
	}
}

// consoleEndpoints are the pages of the console, which knows its users by their session, and
// what its forms post. Sessions begin and end here.
func consoleEndpoints() []endpoint {
	return []endpoint{
		public("CONSOLE", http.MethodGet, "/console", Web, 0),
		public("CONSOLE", http.MethodGet, "/console"+tailPart, Web, 0),
		public("CONSOLE", http.MethodGet, "/console/login", Web, 0),
		login(form("CONSOLE_LOGIN", "/console/login", Gateway, maxLogin)),
		form("CONSOLE_LOGOUT", "/console/logout", Gateway, maxLogin),
		form("CONSOLE_ACTION", "/console"+tailPart, Web, maxAdmin),
		streamed(public("CONSOLE_LIVE", http.MethodGet, "/console/live", Web, 0)),
		streamed(public("CONSOLE_EXPORT", http.MethodGet, "/console/audit.csv", Web, 0)),
		streamed(public("CONSOLE_EXPORT", http.MethodGet, "/console/audit.ndjson", Web, 0)),
	}
}

// streamed marks answers that may take longer than others, and are passed on as they come.
func streamed(e endpoint) endpoint {
	e.streams = true
	return e
}

func form(operation, pattern string, by Service, maxBody int64) endpoint {
	e := public(operation, http.MethodPost, pattern, by, maxBody)
	e.form = true
	return e
}

func login(e endpoint) endpoint {
	e.access.Login = true
	return e
}

func streamEndpoints() []endpoint {
	repair := change("REPAIR_INDEX", http.MethodPost, "/admin/repair-index")
	repair.access.Global = true
	return []endpoint{
		read("LIST_STREAMS", Coordinator, "/streams"),
		read("GET_STREAM", Coordinator, streamPart),
		change("CREATE_STREAM", http.MethodPost, streamPart),
		change("DELETE_STREAM", http.MethodDelete, streamPart),
		change("SCALE_STREAM", http.MethodPost, streamPart+"/scale"),

		read("GET_GROUP", Coordinator, groupPart),
		change("CREATE_GROUP", http.MethodPost, groupPart),
		change("DELETE_GROUP", http.MethodDelete, groupPart),
		change("SCALE_GROUP", http.MethodPost, groupPart+"/scale"),
		change("SET_BARRIER", http.MethodPost, groupPart+"/barrier"),
		change("FENCE_MEMBER", http.MethodPost, memberPart+"/fence"),
		read("LIST_EVENTS", Coordinator, groupPart+"/events"),

		read("GET_MIGRATION", Coordinator, reshardPart),
		change("ROLLBACK_MIGRATION", http.MethodPost, reshardPart+"/rollback"),
		change("CONFIRM_DRAIN", http.MethodPost, reshardPart+"/confirm-drain"),
		repair,
	}
}

// memberEndpoints are those of members and producers.
func memberEndpoints() []endpoint {
	member := Access{Roles: auth.Member, MemberAPI: true}
	return []endpoint{
		{
			operation: OperationHeartbeat, method: http.MethodPost, pattern: memberPart + "/heartbeat",
			service: Coordinator, access: member, maxBody: maxHeartbeat,
		},
		{
			operation: OperationHeartbeats, method: http.MethodPost, pattern: groupPart + "/heartbeats",
			service: Coordinator, access: member, maxBody: maxHeartbeat,
		},
		{
			operation: OperationRouting, method: http.MethodGet, pattern: groupPart + "/producer-routing",
			service: Coordinator, access: Access{Roles: auth.Member | auth.Read, MemberAPI: true},
		},
	}
}

// gatewayEndpoints are those that the gateway answers itself.
func gatewayEndpoints() []endpoint {
	return []endpoint{
		login(public("LOGIN", http.MethodPost, "/auth/login", Gateway, maxLogin)),
		// Without roles, a credential of any kind is enough.
		{operation: "LOGOUT", method: http.MethodPost, pattern: "/auth/logout", service: Gateway},
		public("GET_SESSION", http.MethodGet, "/monitoring/session", Gateway, 0),
		named(read("LIST_AUDIT", Gateway, "/audit")),
		global(read("GET_SYSTEM", Gateway, "/system")),
	}
}

func monitoringEndpoints(monitor bool) []endpoint {
	group, groups := "/monitoring"+groupPart, Coordinator
	if monitor {
		groups = Monitor
	}
	list := read("LIST_GROUPS", groups, "/monitoring/groups")
	list.access.Narrowed = monitor // the coordinator answers for all streams
	stream := narrowed(streamed(named(read("MONITORING_STREAM", Monitor, "/monitoring/stream"))))
	grafana := "/monitoring/grafana/"
	return []endpoint{
		read("GET_HEALTH", Coordinator, "/monitoring/health"),
		read("GET_COMPATIBILITY", Coordinator, "/monitoring/compatibility"),
		list,
		read("GET_MONITORING_GROUP", groups, group),
		read("LIST_MEMBERS", groups, group+"/members"),
		read("GET_ASSIGNMENTS", groups, group+"/assignments"),
		read("LIST_MIGRATIONS", groups, group+"/migrations"),

		read("GET_CONSUMPTION", Monitor, group+"/consumption"),
		read("GET_OFFSETS", Monitor, group+"/offsets"),
		read("LIST_MESSAGES", Monitor, group+"/shards/{"+shardParameter+"}/messages"),
		read("LIST_PENDING", Monitor, group+"/shards/{"+shardParameter+"}/pending"),
		stream,

		narrowed(read("GRAFANA_GROUPS", Monitor, grafana+"groups")),
		narrowed(read("GRAFANA_STREAM_OPTIONS", Monitor, grafana+"options/streams")),
		narrowed(named(read("GRAFANA_GROUP_OPTIONS", Monitor, grafana+"options/consumer-groups"))),
		named(read("GRAFANA_SHARD_OPTIONS", Monitor, grafana+"options/shards")),
		named(read("GRAFANA_MEMBERS", Monitor, grafana+"members")),
		named(read("GRAFANA_SHARDS", Monitor, grafana+"shards")),
		named(read("GRAFANA_ASSIGNMENTS", Monitor, grafana+"assignments")),
		named(read("GRAFANA_MESSAGES", Monitor, grafana+"messages")),
	}
}
