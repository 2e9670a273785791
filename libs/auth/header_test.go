package auth_test

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"hash"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestGoodTokenOfTheForgerIsTaken(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	claims := f.takes(t, f.token(f.header(t, nil), payload(t, nil)))
	require.Equal(t, "ops", claims.Subject)
	require.Equal(t, "READ", claims.Roles.String())
	require.Equal(t, atNow(), claims.IssuedAt)
}

func TestOnlyTheConfiguredAlgorithmIsTaken(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, alg := range []any{
		"none", "None", "NONE", "nOnE", "", " none", "none\x00", "nOne ", "HS256", "HS384", "HS512", "RS256", "PS256", "ES256", "Ed25519",
		"eddsa", "EDDSA", "EdDSA ", "EdDSA\n", 1, true,
		[]string{"EdDSA"},
		map[string]string{"a": "EdDSA"},
		nil,
	} {
		header := f.header(t, map[string]any{"alg": alg})
		signed := f.token(header, payload(t, nil))
		f.refuses(t, signed, header)
		f.refuses(t, signed[:strings.LastIndexByte(signed, '.')+1], "no signature, "+header)
		f.refuses(t, signed[:strings.LastIndexByte(signed, '.')], "two parts, "+header)
	}
}

// keysThatFail are those that must not be asked.
type keysThatFail struct{ t *testing.T }

func (k keysThatFail) PublicKey(context.Context, string) (ed25519.PublicKey, error) {
	k.t.Error("a key was looked up")
	return nil, auth.ErrUnknownKey
}

func TestNoKeyIsLookedUpForAnotherAlgorithm(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	f.Verifier = auth.NewVerifier(keysThatFail{t}, atNow, auth.AudienceAPI)
	for _, alg := range []string{"none", "HS256", "RS256", "ES256", "PS256"} {
		f.refuses(t, f.token(f.header(t, map[string]any{"alg": alg}), payload(t, nil)), alg)
	}
}

func TestPublicKeyIsNoSecretOfHMAC(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	der, err := x509.MarshalPKIXPublicKey(f.key.Public())
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	secrets := [][]byte{
		f.key.Public(), []byte(base64.StdEncoding.EncodeToString(f.key.Public())), []byte(encode(string(f.key.Public()))),
		der, text, []byte(strings.TrimSpace(string(text))), f.ring.JWKS(), []byte(f.key.ID()),
		{},
	}
	for alg, sum := range map[string]func() hash.Hash{"HS256": sha256.New, "HS384": sha512.New384, "HS512": sha512.New, "RS256": sha256.New, "EdDSA": sha256.New} {
		for _, key := range secrets {
			signed := encode(f.header(t, map[string]any{"alg": alg})) + "." + encode(payload(t, nil))
			mac := hmac.New(sum, key)
			mac.Write([]byte(signed))
			f.refuses(t, signed+"."+encode(string(mac.Sum(nil))), alg)
		}
	}
}

func TestKeyIDIsOnlyLookedUp(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, kid := range []any{
		nil, "", "../../../../etc/passwd", "/dev/null", "' OR '1'='1", "x' UNION SELECT 'key'--", "${jndi:ldap://x}", "\x00", f.key.ID() + "\x00",
		f.key.ID() + " ", strings.ToUpper(f.key.ID()), f.key.ID()[:10], 0, true,
		[]string{f.key.ID()},
		map[string]string{"kid": f.key.ID()},
	} {
		header := f.header(t, map[string]any{"kid": kid})
		f.refuses(t, f.token(header, payload(t, nil)), header)
	}
}

func TestHeaderBringsNoKey(t *testing.T) {
	t.Parallel()
	f, stranger := newForger(t), outsider(t)
	x := encode(string(stranger.key.Public()))
	for name, value := range map[string]any{
		"jku": "https://attacker.example/jwks.json", "x5u": "https://attacker.example/cert.pem", "x5c": []string{"MII"},
		"jwk": map[string]string{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": f.key.ID()},
	} {
		header := f.header(t, map[string]any{name: value})
		f.refuses(t, stranger.token(header, payload(t, nil)), name+" with another's signature")
		f.takes(t, f.token(header, payload(t, nil)))
	}
}

// RFC 7515, 4.1.11: what a header calls critical must be understood, and nothing is here.
func TestCriticalHeadersAreRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, critical := range []any{[]string{"b64"}, []string{}, "exp", false} {
		header := f.header(t, map[string]any{"crit": critical, "b64": false})
		f.refuses(t, f.token(header, payload(t, nil)), header)
	}
}

func TestHeaderThatIsNoObjectIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, header := range []string{
		"", "null", "[]", `""`, "1", "{", "{}", f.header(t, nil) + "x", "\uFEFF" + f.header(t, nil), `{"alg":"EdDSA"}`,
		strings.Repeat("[", 2000), `{"alg":"EdDSA","kid":` + strings.Repeat(`{"a":`, 400),
	} {
		f.refuses(t, f.token(header, payload(t, nil)), header)
	}
}
