package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
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

// Sign returns a token of the claims, signed with the ring's current key.
func (r *Keyring) Sign(claims Claims) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims.payload())
	token.Header["kid"] = r.current.id
	signed, err := token.SignedString(r.current.private)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// Verifier takes tokens of one issuer for some audiences. It is safe for concurrent use.
type Verifier struct {
	keys    Keys
	parser  *jwt.Parser
	decoder *httpx.Decoder[payload]
}

// NewVerifier returns a verifier of tokens that are meant for one of the audiences. now is
// the clock.
func NewVerifier(keys Keys, now func() time.Time, audiences ...string) *Verifier {
	return &Verifier{
		keys: keys,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{algorithm}), jwt.WithStrictDecoding(), jwt.WithIssuer(Issuer),
			jwt.WithAudience(audiences...), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(Leeway),
			jwt.WithTimeFunc(now),
		),
		decoder: httpx.NewDecoder[payload](),
	}
}

// Verify returns what a token says, or an error that wraps ErrToken when it is not taken: by
// form, key, signature, issuer, audience or time.
func (v *Verifier) Verify(ctx context.Context, token string) (Claims, error) {
	if len(token) > maxToken {
		return Claims{}, fmt.Errorf("%w: it has more than %d bytes", ErrToken, maxToken)
	}
	into := &strictly{decoder: v.decoder}
	_, err := v.parser.ParseWithClaims(token, into, func(parsed *jwt.Token) (any, error) {
		id, _ := parsed.Header["kid"].(string)
		return v.keys.PublicKey(ctx, id)
	})
	switch {
	case err != nil:
		return Claims{}, fmt.Errorf("%w: %w", ErrToken, err)
	case into.Subject == "" || into.ID == "":
		return Claims{}, fmt.Errorf("%w: it names nobody, or has no id", ErrToken)
	case into.ExpiresAt <= into.IssuedAt:
		return Claims{}, fmt.Errorf("%w: it ends before it begins", ErrToken)
	}
	return into.claims(), nil
}
