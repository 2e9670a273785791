package login

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// clockSlack is how much longer than its token a revocation is kept, for clocks that differ.
const clockSlack = time.Minute

// Login answers POST auth/login with a token for the name and password in the exchange's
// body.
func (s *Service) Login(w http.ResponseWriter, r *http.Request) {
	e := exchange.Of(r.Context())
	asked, err := s.decoder.Decode(e.Body)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	principal, err := s.admitted(r, asked)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	claims := s.Claims(principal)
	token, err := s.deps.Ring.Sign(claims)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	e.Principal = principal
	s.log.InfoContext(r.Context(), "logged in", "user", principal.Name, "address", e.Client.Address.String(), "tokenId", claims.ID)
	s.answers.JSON(w, r, http.StatusOK, protocol.LoginResponse{
		AccessToken: token, TokenType: "Bearer", ExpiresAt: protocol.Timestamp{Time: claims.ExpiresAt},
		ExpiresInSeconds: int64(claims.ExpiresAt.Sub(claims.IssuedAt) / time.Second), Roles: principal.Roles.Names(),
	})
}

// Claims returns what a new token or session of a user says.
func (s *Service) Claims(principal auth.Principal) auth.Claims {
	now := s.deps.Now().UTC().Truncate(time.Second)
	claims := auth.Claims{
		ID: ulid.Make().String(), Subject: principal.Name, Audience: []string{auth.AudienceAPI},
		IssuedAt: now, ExpiresAt: now.Add(s.cfg.TokenTTL.Truncate(time.Second)),
		Roles: principal.Roles, Scopes: principal.Scopes,
	}
	if principal.Roles.Any(auth.Member) {
		claims.Audience = append(claims.Audience, auth.AudienceMember)
	}
	return claims
}

// complete refuses what cannot be a name with its password.
func complete(asked protocol.LoginRequest) error {
	switch {
	case asked.Username == "":
		return protocol.Errorf(protocol.CodeInvalidRequest, "username is empty")
	case asked.Password == "":
		return protocol.Errorf(protocol.CodeInvalidRequest, "password is empty")
	case len(asked.Password) > auth.MaxPassword:
		return protocol.Errorf(protocol.CodeInvalidRequest, "password has more than %d bytes", auth.MaxPassword)
	}
	return nil
}

// noteRefusal logs a refused password. A name that is no user's may be a password in the
// wrong place, so it is not written. Who is locked may ask as often as it likes; that is for
// debugging.
func (s *Service) noteRefusal(r *http.Request, name string, err error) {
	if _, known := s.deps.Users.Principal(name); !known {
		name = ""
	}
	level := slog.LevelWarn
	_, locked := errors.AsType[*lockedError](err)
	if locked {
		level = slog.LevelDebug
	}
	if locked || errors.Is(err, errWrong) {
		s.deps.Refused(locked)
	}
	from := exchange.Of(r.Context()).Client.Address.String()
	s.log.LogAttrs(r.Context(), level, "password refused", slog.String("user", name), slog.String("address", from), slog.Any("error", err))
}

// Logout answers POST auth/logout: the token or session that the request came with is over.
func (s *Service) Logout(w http.ResponseWriter, r *http.Request) {
	with := identityOf(r.Context())
	if with.claims.ID == "" {
		s.refuse(w, r, protocol.Errorf(protocol.CodeInvalidRequest, "only a token or a session can be logged out, and the request came with neither"))
		return
	}
	if err := s.end(r, with); err != nil {
		s.refuse(w, r, err)
		return
	}
	if with.session {
		s.ClearSession(w)
	}
	s.answers.JSON(w, r, http.StatusOK, protocol.LogoutResponse{LoggedOut: true})
}

// end makes a token or session end before its time.
func (s *Service) end(r *http.Request, with identity) error {
	until := with.claims.ExpiresAt.Add(auth.Leeway + clockSlack)
	if err := s.deps.Revoked.Revoke(r.Context(), with.claims.ID, until); err != nil {
		return err
	}
	s.log.InfoContext(r.Context(), "logged out", "user", with.claims.Subject, "tokenId", with.claims.ID)
	return nil
}

// Session answers GET monitoring/session: who the gateway takes the caller for. The answer to
// a session carries what HeaderCSRF has to say.
func (s *Service) Session(w http.ResponseWriter, r *http.Request) {
	principal := exchange.Of(r.Context()).Principal
	said := protocol.SessionResponse{Roles: principal.Roles.Names(), Scopes: []string{}}
	if principal.Name != "" {
		said.Authenticated, said.Username = true, &principal.Name
	}
	for _, scope := range principal.Scopes {
		said.Scopes = append(said.Scopes, string(scope))
	}
	if with := identityOf(r.Context()); with.session {
		w.Header().Set(HeaderCSRF, s.deps.Session.CSRF(with.claims.ID))
	}
	s.answers.JSON(w, r, http.StatusOK, said)
}

// wrongPassword returns what the caller is told: for a wrong password and a user that does
// not exist the same.
func wrongPassword(err error) error {
	if errors.Is(err, errWrong) {
		return protocol.Errorf(protocol.CodeUnauthorized, "user name or password is wrong")
	}
	return err
}
