// Package route tells what a request asks for: it reads method and path once, checks every
// part, and rebuilds the path that a service gets. Rights, limits, audit and the service all
// go by the same Route, so that they cannot understand a path differently (reliability,
// Rate limit and proxy).
//
// It is arithmetic: no I/O, no state.
package route

import "github.com/redis-stream-coordinator/rsc/libs/auth"

// Service is who answers a route.
type Service string

// The services behind the gateway, and the gateway itself.
const (
	Gateway     Service = "gateway"
	Coordinator Service = auth.AudienceCoordinator
	Monitor     Service = auth.AudienceMonitor
	Web         Service = auth.AudienceWeb
)

// Access is who may ask for a route.
type Access struct {
	// Public needs no credential.
	Public bool
	// Login marks what somebody logs in by: no credential is looked at.
	Login bool
	// Roles are those of which a caller needs one; none with Public, or where a credential of
	// any kind is enough.
	Roles auth.Roles
	// MemberAPI marks heartbeats and routing reads, which are guarded only where
	// api.authenticate-member-api says so.
	MemberAPI bool
	// Global marks what is about all streams together, which takes a caller without scopes.
	Global bool
	// Narrowed marks what the service answers for all streams, or for those that the scopes in its
	// token reach: a caller with scopes may ask without naming one.
	Narrowed bool
}

// Route is what a request asks for.
type Route struct {
	// Operation names the endpoint, for example SCALE_STREAM; metrics and audit use it.
	Operation string
	// Pattern is the endpoint's path with its parameters' names, below the base path or from
	// the root, for example /coord/v1/streams/{streamPrefix}/scale.
	Pattern string
	// Method is GET, POST or DELETE; HEAD is taken as GET.
	Method  string
	Access  Access
	Service Service
	// Mutation marks what changes state: audited, limited, and idempotent by key.
	Mutation bool
	// DryRun marks a mutation of which only the plan is asked for (protocol L11).
	DryRun bool
	// MaxBody is the largest body in bytes, 0 where the route takes none (wire contract).
	MaxBody int64
	// Form marks a body that a form of a page posts, in place of JSON.
	Form bool
	// Streams marks answers without an end, which are passed on as they come.
	Streams bool

	// Stream, Group, Member and Resharding are the names that the path, or for monitoring
	// rows the query, says; valid or empty.
	Stream, Group, Member, Resharding string
	// Path is the rebuilt, escaped path for the service; Query is the query, rebuilt too.
	Path, Query string
}
