package auth_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// secret makes the keys of the tests, outsiders has another issuer's.
const (
	secret    = "0123456789abcdef0123456789abcdef"
	outsiders = "fedcba9876543210fedcba9876543210"
)

// atNow is the time of the tests.
func atNow() time.Time { return time.Unix(1_800_000_000, 0).UTC() }

// forger signs what nobody would: any header with any payload. Its private key is that of
// the ring, as the worst of forgers would have it.
type forger struct {
	private ed25519.PrivateKey
	key     auth.Key
	ring    *auth.Keyring
	*auth.Verifier
}

func newForger(t testing.TB) forger {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(secret))
	key, err := auth.KeyFromPEM(pemOf(t, private))
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	return forger{private, key, ring, auth.NewVerifier(ring, atNow, auth.AudienceAPI)}
}

func pemOf(t testing.TB, private any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// header returns the header of a good token with some things changed, nil takes them out.
func (f forger) header(t testing.TB, changes map[string]any) string {
	t.Helper()
	return changed(t, map[string]any{"alg": "EdDSA", "typ": "JWT", "kid": f.key.ID()}, changes)
}

// payload returns the payload of a good token with some things changed, nil takes them out.
func payload(t testing.TB, changes map[string]any) string {
	t.Helper()
	return changed(t, map[string]any{
		"iss": auth.Issuer, "sub": "ops", "aud": []string{auth.AudienceAPI}, "exp": atNow().Unix() + 60, "iat": atNow().Unix(),
		"jti": "id-1", "roles": []string{"READ"},
	}, changes)
}

func changed(t testing.TB, of, changes map[string]any) string {
	t.Helper()
	maps.Copy(of, changes)
	maps.DeleteFunc(of, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(of)
	require.NoError(t, err)
	return string(text)
}

// token signs a header and a payload as they are.
func (f forger) token(header, payload string) string {
	signed := encode(header) + "." + encode(payload)
	return signed + "." + encode(string(ed25519.Sign(f.private, []byte(signed))))
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func (f forger) takes(t *testing.T, token string) auth.Claims {
	t.Helper()
	claims, err := f.Verify(t.Context(), token)
	require.NoError(t, err)
	return claims
}

func (f forger) refuses(t *testing.T, token, because string) {
	t.Helper()
	claims, err := f.Verify(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrToken, because)
	require.Empty(t, claims, because)
}
