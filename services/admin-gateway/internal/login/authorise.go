package login

import (
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Authorise lets by who may ask for the route; it stands after Stage. The answer to others
// is the same whether what they ask for exists or not.
func (s *Service) Authorise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if !e.Route.Access.Public && !s.openToMembers(e.Route) {
			if err := mayAsk(e.Principal, e.Route); err != nil {
				s.refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func mayAsk(who auth.Principal, asked route.Route) error {
	access := asked.Access
	switch {
	case who.Name == "":
		return protocol.Errorf(protocol.CodeUnauthorized, "this needs a credential: a token of POST auth/login, or a user name with its password")
	case access.Roles != 0 && !who.Roles.Any(access.Roles):
		return protocol.Errorf(protocol.CodeForbidden, "this needs the role %s, which user %q has not",
			strings.Join(access.Roles.Names(), " or "), who.Name)
	case !reaches(who, asked):
		return protocol.Errorf(protocol.CodeForbidden, "this is outside of the streams to which user %q is bound", who.Name)
	}
	return nil
}

// reaches compares the scopes. What names no stream is about all of them, but for what the
// gateway answers itself and is not marked, and for what is narrowed: there the handler, or the
// service, looks at the scopes.
func reaches(who auth.Principal, asked route.Route) bool {
	if asked.Stream == "" && !asked.Access.Global && (asked.Service == route.Gateway || asked.Access.Narrowed) {
		return true
	}
	stream := asked.Stream
	if asked.Access.Global {
		stream = ""
	}
	return who.Reaches(stream)
}
