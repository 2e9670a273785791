package login

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// Pages of the console that a login leads to.
const (
	consolePath = "/console"
	loginPath   = consolePath + "/login"
	// maxNext is how long the address may be that a login leads to, in bytes.
	maxNext = 2 << 10
)

// ConsoleLogin answers what the console's login form posts: it begins a session and sends the
// browser on to the page that it came for. After a refusal it sends it back to the form, with
// the code of the refusal in the query, and the seconds to wait where there are some.
func (s *Service) ConsoleLogin(w http.ResponseWriter, r *http.Request) {
	if err := s.sameOrigin(r); err != nil { // somebody could be logged in as another
		s.refuse(w, r, err)
		return
	}
	e := exchange.Of(r.Context())
	form, err := url.ParseQuery(string(e.Body))
	if err != nil {
		s.refuse(w, r, protocol.Errorf(protocol.CodeInvalidRequest, "the form is not encoded as a URL asks"))
		return
	}
	next := nextOf(form.Get("next"))
	asked := protocol.LoginRequest{Username: form.Get("username"), Password: form.Get("password")}
	principal, err := s.admitted(r, asked)
	if err != nil {
		s.sendBack(w, r, next, err)
		return
	}
	claims := s.Claims(principal)
	if err := s.SetSession(w, claims); err != nil {
		s.refuse(w, r, err)
		return
	}
	e.Principal = principal
	s.log.InfoContext(r.Context(), "logged in to the console", "user", principal.Name, "address", e.Client.Address.String(), "tokenId", claims.ID)
	seeOther(w, next)
}

// admitted returns who a name and a password are of.
func (s *Service) admitted(r *http.Request, asked protocol.LoginRequest) (auth.Principal, error) {
	if err := complete(asked); err != nil {
		return auth.Principal{}, err
	}
	principal, err := s.passwords.check(r.Context(), asked.Username, asked.Password, exchange.Of(r.Context()).Client.Address, false)
	if err != nil {
		s.noteRefusal(r, asked.Username, err)
		return auth.Principal{}, wrongPassword(err)
	}
	return principal, nil
}

// sendBack leads back to the form, which says what was wrong.
func (s *Service) sendBack(w http.ResponseWriter, r *http.Request, next string, err error) {
	query := url.Values{}
	if next != consolePath {
		query.Set("next", next)
	}
	code := protocol.CodeInternal
	if locked, ok := errors.AsType[*lockedError](err); ok {
		code = protocol.CodeRateLimitExceeded
		query.Set("wait", strconv.Itoa(int(math.Ceil(locked.wait.Seconds()))))
	} else if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		code = refusal.Code
	}
	exchange.Of(r.Context()).Code = code
	query.Set("refused", string(code))
	seeOther(w, loginPath+"?"+query.Encode())
}

// ConsoleLogout answers the console's form to log out: the session is over, also where it was
// before.
func (s *Service) ConsoleLogout(w http.ResponseWriter, r *http.Request) {
	if with := identityOf(r.Context()); with.session {
		if err := s.end(r, with); err != nil {
			s.refuse(w, r, err)
			return
		}
		s.ClearSession(w)
	}
	seeOther(w, loginPath)
}

// nextOf returns the page of the console that a login leads to: never one of another host, and
// nothing that another part of the gateway answers.
func nextOf(given string) string {
	parsed, err := url.Parse(given)
	if err != nil || len(given) > maxNext || strings.ContainsFunc(given, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) ||
		parsed.IsAbs() || parsed.Host != "" || parsed.User != nil || path.Clean(parsed.Path) != parsed.Path {
		return consolePath
	}
	if parsed.Path != consolePath && !strings.HasPrefix(parsed.Path, consolePath+"/") {
		return consolePath
	}
	switch parsed.Path {
	case loginPath, consolePath + "/logout", consolePath + "/live":
		return consolePath
	}
	next := url.URL{Path: parsed.Path, RawPath: parsed.RawPath, RawQuery: parsed.RawQuery}
	return next.String()
}

// seeOther sends the browser on with GET.
func seeOther(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}
