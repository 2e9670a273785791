package auth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestSignedTokenIsTaken(t *testing.T) {
	t.Parallel()
	key, err := auth.KeyFromSecret("0123456789abcdef0123456789abcdef")
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	now := time.Unix(1_800_000_000, 0).UTC()
	said := auth.Claims{ID: "j", Subject: "ops", Audience: []string{auth.AudienceAPI}, IssuedAt: now, ExpiresAt: now.Add(time.Hour), Roles: auth.Read | auth.Write}
	token, err := ring.Sign(said)
	require.NoError(t, err)
	v := auth.NewVerifier(ring, func() time.Time { return now }, auth.AudienceAPI)
	got, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, said, got)
	t.Log(string(ring.JWKS()))
}
