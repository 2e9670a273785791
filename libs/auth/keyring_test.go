package auth_test

import (
	"crypto/ed25519"
	"encoding/json"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// outsider signs with another issuer's key and has a ring of its own.
func outsider(t testing.TB) forger {
	t.Helper()
	private := ed25519.NewKeyFromSeed([]byte(outsiders))
	key, err := auth.KeyFromPEM(pemOf(t, private))
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	return forger{private, key, ring, auth.NewVerifier(ring, atNow, auth.AudienceAPI)}
}

func fromSecret(t testing.TB, text string) auth.Key {
	t.Helper()
	key, err := auth.KeyFromSecret(text)
	require.NoError(t, err)
	return key
}

func ringOf(t testing.TB, current auth.Key, previous ...auth.Key) *auth.Keyring {
	t.Helper()
	ring, err := auth.NewKeyring(current, previous...)
	require.NoError(t, err)
	return ring
}

func signed(t testing.TB, ring *auth.Keyring) string {
	t.Helper()
	token, err := ring.Sign(auth.Claims{
		ID: "j", Subject: "ops", Audience: []string{auth.AudienceAPI}, IssuedAt: atNow(), ExpiresAt: atNow().Add(time.Hour), Roles: auth.Read,
	})
	require.NoError(t, err)
	return token
}

func verifies(t testing.TB, keys auth.Keys, token string) bool {
	t.Helper()
	_, err := auth.NewVerifier(keys, atNow, auth.AudienceAPI).Verify(t.Context(), token)
	if err != nil {
		require.ErrorIs(t, err, auth.ErrToken)
	}
	return err == nil
}

func TestOldKeyIsTakenInTheOverlapOnly(t *testing.T) {
	t.Parallel()
	before, after := fromSecret(t, secret), fromSecret(t, outsiders)
	old, overlap, rotated := ringOf(t, before), ringOf(t, after, before), ringOf(t, after)
	require.True(t, verifies(t, overlap, signed(t, old)))
	require.False(t, verifies(t, rotated, signed(t, old)), "the key was removed")
	require.True(t, verifies(t, rotated, signed(t, overlap)), "the new key signs from the beginning of the overlap")
	require.False(t, verifies(t, old, signed(t, overlap)))
}

func TestAnothersKeyWithOurIDVerifiesNothing(t *testing.T) {
	t.Parallel()
	f, stranger := newForger(t), outsider(t)
	f.refuses(t, stranger.token(f.header(t, nil), payload(t, nil)), "our kid, another's signature")
	f.refuses(t, stranger.token(stranger.header(t, nil), payload(t, nil)), "another's token")
	f.refuses(t, f.token(stranger.header(t, nil), payload(t, nil)), "another's kid, our signature")
}

func TestEmptyKeyIsNoneOfARing(t *testing.T) {
	t.Parallel()
	for _, keys := range [][2]auth.Key{{{}, fromSecret(t, secret)}, {fromSecret(t, secret), {}}} {
		ring, err := auth.NewKeyring(keys[0], keys[1])
		require.Error(t, err)
		require.Nil(t, ring)
	}
	require.Nil(t, auth.Key{}.Public())
}

func TestJWKSetIsOneForOthers(t *testing.T) {
	t.Parallel()
	first, second := fromSecret(t, secret), fromSecret(t, outsiders)
	ring := ringOf(t, first, second, first, second)
	var set jwkset.JWKSMarshal
	require.NoError(t, json.Unmarshal(ring.JWKS(), &set))
	require.Len(t, set.Keys, 2, "each key once")
	for i, key := range []auth.Key{first, second} {
		read, err := jwkset.NewJWKFromMarshal(set.Keys[i], jwkset.JWKMarshalOptions{Private: true}, jwkset.JWKValidateOptions{})
		require.NoError(t, err)
		require.Equal(t, key.Public(), read.Key())
		require.Equal(t, key.ID(), read.Marshal().KID)
		require.Equal(t, jwkset.AlgEdDSA, read.Marshal().ALG)
		require.Equal(t, jwkset.UseSig, read.Marshal().USE)
		require.Empty(t, read.Marshal().D)
	}
	require.NotContains(t, string(ring.JWKS()), `"d"`)
}
