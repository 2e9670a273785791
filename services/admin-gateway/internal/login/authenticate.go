package login

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// identity is who a request comes from, and by what.
type identity struct {
	principal auth.Principal
	// claims are those of the token or session, zero for a password.
	claims auth.Claims
	// ambient marks a credential that a browser sends by itself, session one that is a cookie.
	ambient, session bool
}

type identityKey struct{}

func identityOf(ctx context.Context) identity {
	found, _ := ctx.Value(identityKey{}).(identity)
	return found
}

// Stage authenticates: it fills in the exchange's principal and token id. A request without
// a credential goes on without them, one with a wrong credential is refused, on public routes
// too. Not looked at are the credentials of logins, and of members that need none.
func (s *Service) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := exchange.Of(r.Context())
		if s.anybody(e.Route) {
			next.ServeHTTP(w, r)
			return
		}
		who, err := s.identify(r, e)
		if errors.Is(err, errSession) {
			s.ClearSession(w)
			if e.Route.Access.Public {
				who, err = identity{}, nil
			}
		}
		if err == nil {
			err = s.checkOrigin(r, e, who)
		}
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		e.Principal, e.TokenID = who.principal, who.claims.ID
		if from, err := netip.ParseAddr(who.claims.Client); err == nil {
			e.Client.Address = from // the console asks for a browser
		}
		if who.session {
			e.FormToken = s.deps.Session.CSRF(who.claims.ID)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), identityKey{}, who)))
	})
}

// anybody tells that who asks does not matter to a route, so that a credential is not looked
// at.
func (s *Service) anybody(asked route.Route) bool {
	return asked.Access.Login || s.openToMembers(asked)
}

func (s *Service) openToMembers(asked route.Route) bool {
	return asked.Access.MemberAPI && !s.cfg.AuthenticateMembers
}

// identify reads the credential. The Authorization header goes before the cookie, which is
// then not looked at.
func (s *Service) identify(r *http.Request, e *exchange.Exchange) (identity, error) {
	given := r.Header.Values("Authorization")
	switch len(given) {
	case 0:
		return s.bySession(r)
	case 1:
	default:
		return identity{}, protocol.Errorf(protocol.CodeUnauthorized, "request has several Authorization headers")
	}
	scheme, value, _ := strings.Cut(given[0], " ")
	switch strings.ToLower(scheme) {
	case "bearer":
		return s.byToken(r.Context(), value)
	case "basic":
		return s.byPassword(r, e)
	default:
		return identity{}, protocol.Errorf(protocol.CodeUnauthorized, "Authorization is neither Bearer nor Basic")
	}
}

func (s *Service) byToken(ctx context.Context, token string) (identity, error) {
	claims, err := s.verifier.Verify(ctx, token)
	if err != nil {
		return identity{}, over().Because(err)
	}
	return s.current(claims)
}

// bySession reads the cookie. Every error wraps errSession.
func (s *Service) bySession(r *http.Request) (identity, error) {
	cookies := r.CookiesNamed(s.cookieName())
	if len(cookies) == 0 {
		return identity{}, nil
	}
	claims, err := s.deps.Session.Open(cookies[0].Value)
	if err != nil || len(cookies) > 1 || !s.deps.Now().Before(claims.ExpiresAt) {
		return identity{}, over().Because(errSession)
	}
	who, err := s.current(claims)
	if err != nil {
		return identity{}, over().Because(errors.Join(errSession, err))
	}
	who.ambient, who.session = true, true
	return who, nil
}

// current gives the subject of claims its rights of now.
func (s *Service) current(claims auth.Claims) (identity, error) {
	if s.deps.Revoked.Revoked(claims.ID) {
		return identity{}, over().Because(errors.New("it was logged out"))
	}
	principal, known := s.deps.Users.Principal(claims.Subject)
	if !known {
		return identity{}, over().Because(errors.New("its user is gone"))
	}
	return identity{principal: principal, claims: claims}, nil
}

func (s *Service) byPassword(r *http.Request, e *exchange.Exchange) (identity, error) {
	name, password, ok := r.BasicAuth()
	if !ok || len(password) > auth.MaxPassword {
		return identity{}, wrongPassword(errWrong)
	}
	principal, err := s.passwords.check(r.Context(), name, password, e.Client.Address, true)
	if err != nil {
		s.noteRefusal(r, name, err)
		return identity{}, wrongPassword(err)
	}
	return identity{principal: principal, ambient: true}, nil
}

// checkOrigin refuses changes that another site's page has made a browser ask for
// (reliability, Console, CSRF), and what such a page posts where no credential is needed: it
// could log somebody in as another. Tokens are sent by nobody but who has them.
func (s *Service) checkOrigin(r *http.Request, e *exchange.Exchange, who identity) error {
	asked := e.Route
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (safe && !asked.Mutation) || (!who.ambient && !asked.Access.Public) {
		return nil
	}
	if err := s.sameOrigin(r); err != nil {
		return err
	}
	if who.session && !s.deps.Session.own(formTokenOf(r, e), who.claims.ID) {
		return protocol.Errorf(protocol.CodeForbidden, "a change by session needs the header %s of GET monitoring/session", HeaderCSRF)
	}
	return nil
}

func (s *Service) sameOrigin(r *http.Request) error {
	if err := s.origins.Check(r); err != nil {
		return protocol.Errorf(protocol.CodeForbidden, "request comes from a page of another origin").Because(err)
	}
	return nil
}

// formTokenOf returns what a request proves its page by: a header, or a field of the form that
// it posts. It is empty where there is none, or more than one.
func formTokenOf(r *http.Request, e *exchange.Exchange) string {
	given := r.Header.Values(HeaderCSRF)
	if len(given) == 0 && e.Route.Form {
		values, err := url.ParseQuery(string(e.Body))
		if err != nil {
			return ""
		}
		given = values[FieldCSRF]
	}
	if len(given) != 1 {
		return ""
	}
	return given[0]
}

// over is what is said of a token or session whatever is wrong with it.
func over() *protocol.Error {
	return protocol.Errorf(protocol.CodeUnauthorized, "token or session is not valid, or not any longer: log in again")
}
