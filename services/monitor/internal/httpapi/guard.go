package httpapi

import (
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Guard stands before everything that tells of streams: records are somebody's data. It takes
// the tokens that the gateway makes for the monitor, with the role READ and scopes that reach
// the stream, so that bypassing the gateway bypasses nothing (gateway, Authentication).
//
// The zero value refuses everybody. A Guard is safe for concurrent use.
type Guard struct {
	verifier *auth.Verifier // nil without keys
	open     bool           // everybody may ask
}

// NewGuard returns a guard that believes keys by the clock now. Without keys it refuses
// everybody, or with dev lets everybody in.
func NewGuard(keys auth.Keys, dev bool, now func() time.Time) *Guard {
	if keys == nil {
		return &Guard{open: dev}
	}
	return &Guard{verifier: auth.NewVerifier(keys, now, auth.AudienceMonitor)}
}

// identify returns whom the token of a request speaks of. Every refusal is UNAUTHORIZED;
// what is wrong with a token is its cause, for logs only.
func (g *Guard) identify(r *http.Request) (auth.Principal, error) {
	if g.verifier == nil {
		return auth.Principal{}, unauthorized("this monitor has no keys to verify callers by: set api.jwks-url" +
			" to the gateway's /.well-known/jwks.json, or start it with --dev to answer everybody")
	}
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return auth.Principal{}, unauthorized("there is no token with this request").Because(err)
	}
	claims, err := g.verifier.Verify(r.Context(), token)
	if err != nil {
		return auth.Principal{}, unauthorized("the token is not one that the gateway has made for the monitor").Because(err)
	}
	return claims.Principal(), nil
}

func unauthorized(what string) *protocol.Error {
	return protocol.Errorf(protocol.CodeUnauthorized, "%s; ask the gateway, which lets in those who have logged in there", what)
}

// permit refuses a caller who may not read of a stream, or of all where none is named.
func permit(caller auth.Principal, stream string) error {
	switch {
	case !caller.Roles.Any(auth.Read):
		return protocol.Errorf(protocol.CodeForbidden, "this needs the role READ")
	case !caller.Reaches(stream) && stream == "":
		return protocol.Errorf(protocol.CodeForbidden, "this is about all streams, and the caller is bound to some")
	case !caller.Reaches(stream):
		return protocol.Errorf(protocol.CodeForbidden, "the caller's scopes do not cover stream %q", protocol.Echo(stream))
	}
	return nil
}

// guarded lets those through to an endpoint who may ask.
func (a *api) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := a.admit(r, false); err != nil {
			a.answers.Error(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit returns who asks, nobody where everybody may. It refuses callers in the order: who is not
// known, who has not the role, what is not a stream, whose scopes do not reach it. Where no stream
// is named scopes do not matter for what is narrowed to them.
func (a *api) admit(r *http.Request, narrowed bool) (auth.Principal, error) {
	if a.Guard.open {
		return auth.Principal{}, nil
	}
	caller, err := a.Guard.identify(r)
	if err != nil {
		return caller, err
	}
	if !caller.Roles.Any(auth.Read) {
		return caller, permit(caller, "")
	}
	at, err := a.placeOf(r)
	if err != nil || narrowed && at.stream == "" {
		return caller, err
	}
	return caller, permit(caller, at.stream)
}
