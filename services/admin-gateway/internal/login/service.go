package login

import (
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

// What a 401 asks for. Old clients know the first.
const (
	challengeBasic  = `Basic realm="redis-stream-coordinator"`
	challengeBearer = `Bearer realm="redis-stream-coordinator"`
)

// Config is what the service depends on.
type Config struct {
	// TokenTTL is how long a login token lives, above 0; gateways have 7 days by default. It
	// counts in whole seconds.
	TokenTTL time.Duration
	// Secure keeps cookies away from connections without TLS.
	Secure bool
	// AuthenticateMembers guards heartbeats and routing reads. Without it, what they bring is
	// not looked at.
	AuthenticateMembers bool
}

// Deps is what the service works with. All are required but Refused.
type Deps struct {
	Ring    *auth.Keyring
	Users   *users.Directory
	Revoked Revocations
	Session *Session
	Now     func() time.Time
	Log     *slog.Logger
	// Refused is told of every password that is refused: as wrong, or without being looked at
	// while its account or address is locked. Nil is not.
	Refused func(locked bool)
}

// Service logs in and out, and says who asks. It is safe for concurrent use.
type Service struct {
	cfg       Config
	deps      Deps
	log       *slog.Logger
	answers   httpx.Answers
	verifier  *verified
	passwords *passwords
	decoder   *httpx.Decoder[protocol.LoginRequest]
	origins   *http.CrossOriginProtection
}

// New returns a service.
func New(cfg Config, deps Deps) *Service {
	if deps.Refused == nil {
		deps.Refused = func(bool) {}
	}
	return &Service{
		cfg: cfg, deps: deps, log: httpx.Logger(deps.Log), answers: httpx.NewAnswers(deps.Log),
		verifier:  newVerified(auth.NewVerifier(deps.Ring, deps.Now, auth.AudienceAPI, auth.AudienceWeb), deps.Now),
		passwords: newPasswords(deps.Users, NewLockout(deps.Now), deps.Now),
		decoder:   httpx.NewDecoder[protocol.LoginRequest](),
		origins:   http.NewCrossOriginProtection(),
	}
}

// refuse answers with an error, which it notes in the exchange.
func (s *Service) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if locked, ok := errors.AsType[*lockedError](err); ok {
		seconds := int(math.Ceil(locked.wait.Seconds()))
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		err = protocol.Errorf(protocol.CodeRateLimitExceeded,
			"too many failed logins with this user name or from this address, try again in %d s", seconds)
	}
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		exchange.Of(r.Context()).Code = refusal.Code
		if refusal.Code == protocol.CodeUnauthorized {
			s.challenge(w.Header(), r)
		}
	}
	s.answers.Error(w, r, err)
}

// challenge says which credentials are taken. A browser that is told of basic authentication
// asks its user for a password by itself, so what scripts of a page have asked for, and what
// came with a session, is told of tokens only.
func (s *Service) challenge(header http.Header, r *http.Request) {
	_, noSession := r.Cookie(s.cookieName())
	if r.Header.Get("Sec-Fetch-Dest") != "empty" && (noSession != nil || r.Header.Get("Authorization") != "") {
		header.Add("WWW-Authenticate", challengeBasic)
	}
	header.Add("WWW-Authenticate", challengeBearer)
}
