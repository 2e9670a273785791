package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

const (
	// Leeway is how far the clocks of signer and verifier may be apart.
	Leeway = 15 * time.Second
	// maxToken is the longest token that is looked at, in bytes.
	maxToken = 4 << 10
	// algorithm is the only one.
	algorithm = "EdDSA"
)

var (
	// ErrToken comes for every token that is not taken; it is all that a caller may be told.
	ErrToken = errors.New("token is not valid")
	// ErrUnknownKey comes from Keys when there is no key of an id.
	ErrUnknownKey = errors.New("key is not known")
)

// Keys finds the key that verifies by its id. Keyring and Remote do.
type Keys interface {
	// PublicKey returns the key, or an error that wraps ErrUnknownKey.
	PublicKey(ctx context.Context, id string) (ed25519.PublicKey, error)
}

// Sign returns a token of the claims, signed with the ring's current key. It refuses claims
// whose token nobody would take: without a name, an id or a life, with a scope that is none,
// or with so many that the token has more than 4 kB. For whom it is is the caller's choice.
func (r *Keyring) Sign(claims Claims) (string, error) {
	if err := claims.check(); err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims.payload())
	token.Header["kid"] = r.current.id
	signed, err := token.SignedString(*r.current.private)
	switch {
	case err != nil:
		return "", fmt.Errorf("sign token: %w", err)
	case len(signed) > maxToken:
		return "", fmt.Errorf("sign token: it has more than %d bytes", maxToken)
	}
	return signed, nil
}

// Verifier takes tokens of one issuer for some audiences. It is safe for concurrent use.
type Verifier struct {
	keys      Keys
	audiences []string
	parser    *jwt.Parser
	decoder   *httpx.Decoder[payload]
}

// NewVerifier returns a verifier of tokens that are meant for one of the audiences; without
// any it takes none. now is the clock.
func NewVerifier(keys Keys, now func() time.Time, audiences ...string) *Verifier {
	return &Verifier{
		keys: keys, audiences: audiences,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{algorithm}), jwt.WithStrictDecoding(), jwt.WithIssuer(Issuer),
			jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(Leeway), jwt.WithTimeFunc(now),
		),
		decoder: httpx.NewDecoder[payload](),
	}
}

// Verify returns what a token says, or an error that wraps ErrToken when it is not taken: by
// form, key, signature, issuer, audience or time.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	switch {
	case len(token) > maxToken:
		return Claims{}, fmt.Errorf("%w: it has more than %d bytes", ErrToken, maxToken)
	case strings.ContainsAny(token, "\r\n"): // base64 would read over them
		return Claims{}, fmt.Errorf("%w: it has a line break", ErrToken)
	}
	into := &strictly{decoder: v.decoder}
	_, err := v.parser.ParseWithClaims(token, into, func(parsed *jwt.Token) (any, error) {
		if _, critical := parsed.Header["crit"]; critical {
			return nil, errors.New("header has critical parts, which are not known")
		}
		id, _ := parsed.Header["kid"].(string)
		return v.keys.PublicKey(ctx, id)
	})
	if err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	claims := into.claims()
	if err := claims.check(); err != nil {
		return Claims{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !slices.ContainsFunc(claims.Audience, v.expects) {
		return Claims{}, fmt.Errorf("%w: it is meant for others", ErrToken)
	}
	return claims, nil
}

func (v *Verifier) expects(audience string) bool { return slices.Contains(v.audiences, audience) }
