package auth

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// Issuer is the iss of every token.
const Issuer = "redis-stream-coordinator"

// The audiences of tokens.
const (
	// AudienceAPI is the gateway itself.
	AudienceAPI = "api"
	// AudienceMember lets a login token be used at a coordinator for heartbeats and routing.
	AudienceMember = "member"
	// AudienceCoordinator, AudienceMonitor and AudienceWeb are those of upstream tokens.
	AudienceCoordinator = "coordinator"
	AudienceMonitor     = "monitor"
	AudienceWeb         = "web"
)

// HeaderFormToken names the header in which the gateway tells the console what the forms of a
// session's pages have to bring along.
const HeaderFormToken = "X-Form-Token"

// Claims are what a token says.
type Claims struct {
	// ID is the jti, by which a token is revoked.
	ID string
	// Subject is the user, in an upstream token the one for whom the gateway acts.
	Subject  string
	Audience []string
	// IssuedAt and ExpiresAt have whole seconds.
	IssuedAt, ExpiresAt time.Time
	// Roles are the rights at the time of issue; names that are no roles are left out.
	Roles Roles
	// Scopes bound the streams that the roles hold for; none is every stream.
	Scopes []Scope
	// RequestID is that of the request of an upstream token.
	RequestID string
	// Client is the address of who asks, in a token for the console, which asks the gateway in
	// that one's name; empty in others.
	Client string
}

// lastSecond is the end of the year 9999. Later times, and those before 1970, are no token's,
// and some of them wrap around in time.Time.
const lastSecond = 253_402_300_799

// check tells what is wrong with claims of which there is no token.
func (c Claims) check() error {
	begin, end := c.IssuedAt.Unix(), c.ExpiresAt.Unix()
	switch {
	case c.Subject == "" || c.ID == "":
		return errors.New("it names nobody, or has no id")
	case begin < 1 || end > lastSecond:
		return errors.New("its times are not between 1970 and 9999")
	case end <= begin:
		return errors.New("it ends before it begins")
	case !utf8.ValidString(strings.Join(append([]string{c.ID, c.Subject, c.RequestID, c.Client}, c.Audience...), "\n")):
		return errors.New("a text is not valid UTF-8")
	}
	for _, scope := range c.Scopes {
		if _, err := ParseScope(string(scope)); err != nil {
			return err
		}
	}
	return nil
}

// payload is the JSON of the claims. It implements jwt.Claims; the times are checked by the
// parser.
type payload struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Audience  []string `json:"aud"`
	ExpiresAt int64    `json:"exp"`
	IssuedAt  int64    `json:"iat"`
	NotBefore *int64   `json:"nbf,omitempty"`
	ID        string   `json:"jti"`
	Roles     []string `json:"roles"`
	Scopes    []string `json:"scopes,omitempty"`
	RequestID string   `json:"rid,omitempty"`
	Client    string   `json:"cli,omitempty"`
}

// strictly reads a payload by the rules of request bodies: a duplicate key, text in place of
// a number or a number beyond 64 bits is a fault.
type strictly struct {
	payload
	decoder *httpx.Decoder[payload]
}

func (s *strictly) UnmarshalJSON(data []byte) error {
	var err error
	s.payload, err = s.decoder.Decode(data)
	return err
}

func (c Claims) payload() payload {
	p := payload{
		Issuer: Issuer, Subject: c.Subject, Audience: c.Audience, ExpiresAt: c.ExpiresAt.Unix(), IssuedAt: c.IssuedAt.Unix(),
		ID: c.ID, Roles: c.Roles.Names(), RequestID: c.RequestID, Client: c.Client,
	}
	for _, scope := range c.Scopes {
		p.Scopes = append(p.Scopes, string(scope))
	}
	return p
}

func (p payload) claims() Claims {
	c := Claims{
		ID: p.ID, Subject: p.Subject, Audience: p.Audience, IssuedAt: time.Unix(p.IssuedAt, 0).UTC(),
		ExpiresAt: time.Unix(p.ExpiresAt, 0).UTC(), Roles: RolesOf(p.Roles), RequestID: p.RequestID, Client: p.Client,
	}
	for _, scope := range p.Scopes {
		c.Scopes = append(c.Scopes, Scope(scope))
	}
	return c
}

// The methods below implement jwt.Claims.

func (p payload) GetExpirationTime() (*jwt.NumericDate, error) { return at(p.ExpiresAt), nil }

func (p payload) GetIssuedAt() (*jwt.NumericDate, error) { return at(p.IssuedAt), nil }

func (p payload) GetNotBefore() (*jwt.NumericDate, error) {
	if p.NotBefore == nil {
		return nil, nil // there is none
	}
	return at(*p.NotBefore), nil
}

func (p payload) GetIssuer() (string, error) { return p.Issuer, nil }

func (p payload) GetSubject() (string, error) { return p.Subject, nil }

func (p payload) GetAudience() (jwt.ClaimStrings, error) { return p.Audience, nil }

// at keeps a time from wrapping around. What is out of range check refuses, or is a time
// before which the token is not valid.
func at(seconds int64) *jwt.NumericDate {
	return jwt.NewNumericDate(time.Unix(min(max(seconds, 0), lastSecond+1), 0))
}

// Principal returns who the claims speak of, with the rights at the time of issue.
func (c Claims) Principal() Principal {
	return Principal{Name: c.Subject, Roles: c.Roles, Scopes: c.Scopes}
}
