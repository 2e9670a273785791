package httpapi

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestVerifiedTokensAreBelievedForThirtySecondsOrTheirLife(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	v := newVerified()
	_, known := v.get("long", now)
	require.False(t, known)
	v.put("long", auth.Claims{Subject: "m", ExpiresAt: now.Add(time.Hour)}, now)
	v.put("short", auth.Claims{ExpiresAt: now.Add(5 * time.Second)}, now)
	v.put("over", auth.Claims{ExpiresAt: now.Add(-time.Second)}, now)
	claims, known := v.get("long", now.Add(29*time.Second))
	require.True(t, known)
	require.Equal(t, "m", claims.Subject)
	for token, at := range map[string]time.Duration{"long": 30 * time.Second, "short": 5 * time.Second, "over": 0, "longer": 0} {
		_, known = v.get(token, now.Add(at))
		require.False(t, known, token)
	}
}

func TestVerifiedTokensAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	v := newVerified()
	claims := auth.Claims{ExpiresAt: now.Add(time.Hour)}
	for i := range 3*verifiedMost + 1 {
		v.put(strconv.Itoa(i), claims, now)
		require.LessOrEqual(t, len(v.young)+len(v.old), verifiedMost)
	}
	_, known := v.get(strconv.Itoa(3*verifiedMost), now)
	require.True(t, known, "the newest is there")
	_, known = v.get(strconv.Itoa(3*verifiedMost-verifiedMost/2), now)
	require.True(t, known, "so is the half before it")
	_, known = v.get("0", now)
	require.False(t, known)
}
