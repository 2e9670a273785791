package login

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

const (
	// CookieSession names the cookie of a session. Where cookies are Secure, securePrefix
	// stands before it, so that browsers take it from this host only.
	CookieSession = "rsc_session"
	securePrefix  = "__Host-"
	// HeaderCSRF names the header that proves that a page of the gateway's own asks.
	HeaderCSRF = "X-CSRF-Token"
	// FieldCSRF names the field of a page's form that proves the same.
	FieldCSRF = "csrf"
)

// What the keys of sessions are derived for.
const (
	sealPurpose = "redis-stream-coordinator session cookie key 1"
	csrfPurpose = "redis-stream-coordinator session form key 1"
)

const maxCookie = 4 << 10

// errSession comes for every cookie that is not taken.
var errSession = errors.New("session is not valid")

// Session seals what a session cookie says, so that only gateways with the same secret read
// and make one. It is safe for concurrent use.
type Session struct {
	// open and csrf have the keys of the current secret first, then those of before.
	open []cipher.AEAD
	csrf [][]byte
}

// NewSession returns a Session of a secret; cookies of the previous secrets are read while a
// rotation lasts.
func NewSession(secret string, previous ...string) (*Session, error) {
	s := &Session{}
	for _, one := range append([]string{secret}, previous...) {
		aead, err := sealer(one)
		if err != nil {
			return nil, err
		}
		csrf, err := auth.Derive(one, csrfPurpose, sha256.Size)
		if err != nil {
			return nil, err
		}
		s.open, s.csrf = append(s.open, aead), append(s.csrf, csrf)
	}
	return s, nil
}

func sealer(secret string) (cipher.AEAD, error) {
	key, err := auth.Derive(secret, sealPurpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make session cipher: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make session cipher: %w", err)
	}
	return aead, nil
}

// sealed is what a cookie says. Rights are not among it: they are those of the user table.
type sealed struct {
	ID        string `json:"jti"`
	Subject   string `json:"sub"`
	IssuedAt  int64  `json:"iat"`
	ExpiresAt int64  `json:"exp"`
}

// Seal returns the value of a cookie that says the claims' id, subject and times.
func (s *Session) Seal(claims auth.Claims) (string, error) {
	text, err := json.Marshal(sealed{
		ID: claims.ID, Subject: claims.Subject, IssuedAt: claims.IssuedAt.Unix(), ExpiresAt: claims.ExpiresAt.Unix(),
	})
	if err != nil {
		return "", fmt.Errorf("write session: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.open[0].Seal(nil, nil, text, []byte(CookieSession))), nil
}

// Open returns what a cookie says. Whether its time has come is the caller's question.
func (s *Session) Open(value string) (auth.Claims, error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(value) > maxCookie {
		return auth.Claims{}, errSession
	}
	for _, aead := range s.open {
		text, err := aead.Open(nil, nil, data, []byte(CookieSession))
		if err != nil {
			continue
		}
		var said sealed
		if err := json.Unmarshal(text, &said); err != nil {
			return auth.Claims{}, fmt.Errorf("%w: %w", errSession, err)
		}
		return auth.Claims{
			ID: said.ID, Subject: said.Subject, Audience: []string{auth.AudienceAPI},
			IssuedAt: time.Unix(said.IssuedAt, 0).UTC(), ExpiresAt: time.Unix(said.ExpiresAt, 0).UTC(),
		}, nil
	}
	return auth.Claims{}, errSession
}

// CSRF returns the value of HeaderCSRF that belongs to the session of an id.
func (s *Session) CSRF(id string) string { return formToken(s.csrf[0], id) }

// own tells whether what a request proves its page by is that of a page of the gateway's own,
// for the session of an id. While a rotation lasts, the page may be one of a replica with the
// secret of before.
func (s *Session) own(given, id string) bool {
	for _, key := range s.csrf {
		if subtle.ConstantTimeCompare([]byte(given), []byte(formToken(key, id))) == 1 {
			return true
		}
	}
	return false
}

func formToken(key []byte, id string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// SetSession gives the caller a session as a cookie, until the claims' end.
func (s *Service) SetSession(w http.ResponseWriter, claims auth.Claims) error {
	value, err := s.deps.Session.Seal(claims)
	if err != nil {
		return err
	}
	left := claims.ExpiresAt.Sub(s.deps.Now())
	http.SetCookie(w, s.cookie(value, max(int(left/time.Second), 1)))
	return nil
}

// ClearSession takes the session's cookie away. It does not end the session, which Logout
// does.
func (s *Service) ClearSession(w http.ResponseWriter) {
	http.SetCookie(w, s.cookie("", -1))
}

func (s *Service) cookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: s.cfg.Secure, SameSite: http.SameSiteStrictMode,
	}
}

func (s *Service) cookieName() string {
	if s.cfg.Secure {
		return securePrefix + CookieSession
	}
	return CookieSession
}
