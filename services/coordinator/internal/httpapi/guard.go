package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// GuardConfig says whom the coordinator believes (gateway, Authentication).
type GuardConfig struct {
	// Keys verify tokens; nil takes none.
	Keys auth.Keys
	// Members asks for a token in heartbeats and routing reads too; without Keys it refuses
	// them all.
	Members bool
	// Dev takes changes from everybody where there are no Keys. With Keys it has no effect.
	Dev bool
	// Now is the clock that tokens are judged by; it is required with Keys.
	Now func() time.Time
}

// Guard stands before the endpoints that not everybody may ask. Changes need a token that
// the gateway has made for this request, so that bypassing the gateway bypasses nothing;
// heartbeats and routing need a token of a member where the settings say so. All other
// reads but that of the settings are open: the port is for the inside, and the gateway guards
// what it passes on.
//
// The zero value refuses every change. A Guard is safe for concurrent use.
type Guard struct {
	verifier *auth.Verifier // nil without keys
	seen     *verified
	now      func() time.Time
	members  bool
	open     bool // changes are taken from everybody
}

// NewGuard returns a guard that believes the keys of c.
func NewGuard(c GuardConfig) *Guard {
	if c.Keys == nil {
		return &Guard{members: c.Members, open: c.Dev}
	}
	return &Guard{
		verifier: auth.NewVerifier(c.Keys, c.Now, auth.AudienceCoordinator, auth.AudienceMember),
		seen:     newVerified(), now: c.Now, members: c.Members,
	}
}

// demand is what an endpoint asks of its caller.
type demand struct {
	// roles are those of which the caller needs one.
	roles auth.Roles
	// member marks the endpoints of members, which take login tokens too.
	member bool
}

// free tells whether nothing is asked of the caller.
func (g *Guard) free(d demand) bool {
	if d.member {
		return !g.members
	}
	return g.open
}

// identify returns whom the token of a request speaks of. Every refusal is UNAUTHORIZED;
// what is wrong with a token is its cause, for logs only.
func (g *Guard) identify(r *http.Request, d demand) (auth.Principal, error) {
	if g.verifier == nil {
		return auth.Principal{}, unauthorized(d, "this coordinator has no keys to verify callers by: set api.jwks-url"+
			" to the gateway's /.well-known/jwks.json, or start it with --dev to take changes from everybody")
	}
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return auth.Principal{}, unauthorized(d, "there is no token with this request").Because(err)
	}
	claims, known := g.seen.get(token, g.now())
	if !known {
		claims, err = g.verifier.Verify(r.Context(), token)
		if err != nil {
			return auth.Principal{}, unauthorized(d, "the token is not valid").Because(err)
		}
	}
	upstream := slices.Contains(claims.Audience, auth.AudienceCoordinator)
	switch {
	case !upstream && !d.member:
		return auth.Principal{}, unauthorized(d, "the token is not one that the gateway has made for this request")
	case !upstream && !known: // a token of the gateway serves one request and is not seen again
		g.seen.put(token, claims, g.now())
	}
	return claims.Principal(), nil
}

// unauthorized is the refusal of somebody unknown, with the way to become known.
func unauthorized(d demand, what string) *protocol.Error {
	way := "send changes to the gateway, which lets in those who have logged in there; for development," +
		" a coordinator started with --dev and without api.jwks-url takes them from everybody"
	if d.member {
		way = "log in at the gateway and send the token as a bearer token"
	}
	return protocol.Errorf(protocol.CodeUnauthorized, "%s; %s", what, way)
}

// permit refuses a caller who has none of the roles for a stream.
func (d demand) permit(caller auth.Principal, stream string) error {
	switch {
	case !caller.Roles.Any(d.roles):
		return protocol.Errorf(protocol.CodeForbidden, "this needs one of the roles %s, and the caller has %s",
			strings.Join(d.roles.Names(), ", "), rolesOf(caller))
	case !caller.May(d.roles, stream) && stream == "":
		return protocol.Errorf(protocol.CodeForbidden, "this is about all streams, and the caller is bound to some")
	case !caller.May(d.roles, stream):
		return protocol.Errorf(protocol.CodeForbidden, "the caller's scopes do not cover stream %q", protocol.Echo(stream))
	}
	return nil
}

func rolesOf(caller auth.Principal) string {
	if caller.Roles == 0 {
		return "none"
	}
	return strings.Join(caller.Roles.Names(), ", ")
}

// guarded lets those through to an endpoint who meet its demand. Nothing of the body has
// been read until then.
func (a *api) guarded(d demand) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := a.admit(r, d); err != nil {
				a.answers.Error(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// admit refuses callers in the order: who is not known, who has not the role, what names no
// stream, whose scopes do not reach the stream.
func (a *api) admit(r *http.Request, d demand) error {
	if a.Guard.free(d) {
		return nil
	}
	caller, err := a.Guard.identify(r, d)
	if err != nil {
		return err
	}
	if !caller.Roles.Any(d.roles) {
		return d.permit(caller, "")
	}
	at, err := a.placeOf(r)
	if err != nil {
		return err
	}
	return d.permit(caller, at.stream)
}
