package login

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// counted is a ring that counts how often it was asked for a key.
type counted struct {
	*auth.Keyring

	asked int
}

func (c *counted) PublicKey(ctx context.Context, id string) (ed25519.PublicKey, error) {
	c.asked++
	return c.Keyring.PublicKey(ctx, id)
}

func TestATokenIsCheckedOnceUntilItEnds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	key, err := auth.KeyFromSecret(strings.Repeat("s", auth.MinSecret))
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	keys := &counted{Keyring: ring}
	v := newVerified(auth.NewVerifier(keys, clock, auth.AudienceAPI), clock)
	sign := func(id string) string {
		token, err := ring.Sign(auth.Claims{
			ID: id, Subject: "worker", Audience: []string{auth.AudienceAPI}, IssuedAt: now, ExpiresAt: now.Add(time.Minute), Roles: auth.Member,
		})
		require.NoError(t, err)
		return token
	}
	token := sign("one")
	for range 3 {
		claims, err := v.Verify(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, "one", claims.ID)
	}
	require.Equal(t, 1, keys.asked)
	for at := range len(token) { // nothing that only looks like it is taken for it
		other := token[:at] + string(token[at]^1) + token[at+1:]
		_, err := v.Verify(t.Context(), other)
		require.ErrorIs(t, err, auth.ErrToken, other)
	}
	_, err = v.Verify(t.Context(), token+"\n")
	require.ErrorIs(t, err, auth.ErrToken)

	for i := range maxVerified {
		v.remember([32]byte{byte(i), byte(i >> 8), 1}, auth.Claims{ID: fmt.Sprint(i)})
	}
	require.LessOrEqual(t, len(v.known), maxVerified)

	claims, err := v.Verify(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, "one", claims.ID)
	now = now.Add(time.Minute + auth.Leeway + time.Second)
	_, err = v.Verify(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrToken, "it has ended")
}
