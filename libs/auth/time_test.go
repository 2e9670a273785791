package auth_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestClocksMayBeLeewayApartAndNoMore(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, auth.Leeway, 30*time.Second)
	f := newForger(t)
	second, leeway := int64(1), int64(auth.Leeway/time.Second)
	for claim, says := range map[string]struct{ taken, refused int64 }{
		"exp": {taken: -leeway + second, refused: -leeway},
		"nbf": {taken: leeway, refused: leeway + second},
		"iat": {taken: leeway, refused: leeway + second},
	} {
		f.takes(t, f.token(f.header(t, nil), payload(t, moved(claim, says.taken))))
		f.refuses(t, f.token(f.header(t, nil), payload(t, moved(claim, says.refused))), claim)
	}
}

// moved says that a claim is so many seconds after now, with times around it that fit.
func moved(claim string, seconds int64) map[string]any {
	now := atNow().Unix()
	return map[string]any{"iat": now - 100, "exp": now + 100, claim: now + seconds}
}

func TestLeewayEndsWithinASecond(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	now := atNow().Add(time.Minute + auth.Leeway)
	token := f.token(f.header(t, nil), payload(t, map[string]any{"exp": atNow().Unix() + 60}))
	before := auth.NewVerifier(f.ring, func() time.Time { return now.Add(-time.Nanosecond) }, auth.AudienceAPI)
	after := auth.NewVerifier(f.ring, func() time.Time { return now }, auth.AudienceAPI)
	_, err := before.Verify(t.Context(), token)
	require.NoError(t, err)
	_, err = after.Verify(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrToken)
}

func TestTimesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	soon := atNow().Unix() + 60
	for _, claim := range []string{"exp", "iat", "nbf"} {
		for _, value := range []any{
			nil, "soon", "1800000060", json.Number("9223372036854775808"), json.Number("-9223372036854775809"), json.Number("1e400"),
			json.Number("1.8e9"), json.Number("1800000060.0"), json.Number("1800000060.5"), true,
			[]int64{soon},
			map[string]int64{"a": soon},
			json.RawMessage("null"),
		} {
			absent, isRaw := value.(json.RawMessage)
			if claim == "nbf" && (value == nil || isRaw && string(absent) == "null") {
				continue // a token need not have it
			}
			text := payload(t, map[string]any{claim: value})
			f.refuses(t, f.token(f.header(t, nil), text), text)
		}
	}
}

func TestTimesAtTheEndOfTheWorldDoNotWrap(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, changes := range []map[string]any{
		{"exp": int64(math.MinInt64)},
		{"exp": int64(math.MaxInt64)},
		{"exp": int64(math.MaxInt64) - 62_135_596_800},
		{"exp": int64(1) << 56},
		{"exp": 0},
		{"iat": 0},
		{"exp": -1},
		{"iat": int64(math.MinInt64)},
		{"iat": int64(math.MaxInt64)},
		{"iat": -1},
		{"nbf": int64(math.MaxInt64)},
		{"nbf": int64(math.MaxInt64) - 10},
		{"nbf": int64(253_402_300_800)},
	} {
		text := payload(t, changes)
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
	for _, changes := range []map[string]any{{"nbf": int64(math.MinInt64)}, {"nbf": -1}, {"nbf": 0}, {"exp": int64(253_402_300_799)}, {"iat": 1}} {
		f.takes(t, f.token(f.header(t, nil), payload(t, changes)))
	}
}

func TestTokenThatEndsBeforeItBeginsIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	now := atNow().Unix()
	for _, changes := range []map[string]any{{"iat": now, "exp": now}, {"iat": now, "exp": now - 1}, {"iat": now + 10, "exp": now + 5}} {
		f.refuses(t, f.token(f.header(t, nil), payload(t, changes)), "it is over already")
	}
}
