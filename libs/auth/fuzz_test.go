package auth_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// Whatever is made of a good token, only the good one is taken.
func FuzzVerify(f *testing.F) {
	us, stranger := newForger(f), outsider(f)
	good := signed(f, us.ring)
	parts := strings.Split(good, ".")
	for _, seed := range []string{
		good, "", ".", "..", "...", parts[0] + "." + parts[1], parts[0] + "." + parts[1] + ".", good + "\n", good + "=", " " + good, good + ".",
		signed(f, stranger.ring), us.token(us.header(f, nil), payload(f, map[string]any{"exp": 1})),
		us.token(us.header(f, map[string]any{"alg": "none"}), payload(f, nil)), us.token(us.header(f, map[string]any{"alg": "HS256"}), payload(f, nil)),
		us.token("null", "null"), us.token("{}", "{}"), us.token(strings.Repeat("[", 500), strings.Repeat("{", 500)), strings.Repeat(".", 4096),
		parts[0] + "." + encode(payload(f, map[string]any{"roles": []string{"ADMIN"}})) + "." + parts[2],
		encode(stranger.header(f, nil)) + "." + parts[1] + "." + parts[2],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		claims, err := us.Verify(t.Context(), token)
		if token == good {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, auth.ErrToken)
		require.Empty(t, claims)
	})
}

// Even with the key nobody gets a token taken that breaks a rule.
func FuzzVerifySigned(f *testing.F) {
	us := newForger(f)
	header := us.header(f, nil)
	f.Add(header, payload(f, nil))
	for _, changes := range []map[string]any{
		{"aud": "api"},
		{"aud": []string{}},
		{"aud": raw("[null]")},
		{"roles": "ADMIN"},
		{"roles": []string{"admin"}},
		{"exp": raw("1e400")},
		{"exp": "soon"},
		{"exp": raw("9223372036854775808")},
		{"exp": raw("1800000060.5")},
		{"iat": -1},
		{"nbf": raw("9223372036854775807")},
		{"iss": nil},
		{"sub": ""},
		{"scopes": []string{"*"}},
		{"scopes": []string{"orders*"}},
		{"rid": "r"},
		{"jti": raw(`"\u0000"`)},
	} {
		f.Add(header, payload(f, changes))
	}
	for _, changes := range []map[string]any{{"alg": "none"}, {"crit": []string{"exp"}}, {"kid": "../x"}, {"jku": "http://x"}, {"jwk": raw("{}")}, {"kid": 1}} {
		f.Add(us.header(f, changes), payload(f, nil))
	}
	f.Add(`{"alg":"none",`+header[1:], strings.TrimSuffix(payload(f, nil), "}")+`,"sub":"admin"}`)
	f.Fuzz(func(t *testing.T, header, text string) {
		claims, err := us.Verify(t.Context(), us.token(header, text))
		if err != nil {
			require.ErrorIs(t, err, auth.ErrToken)
			return
		}
		require.True(t, claims.Subject != "" && claims.ID != "" && slices.Contains(claims.Audience, auth.AudienceAPI))
		require.True(t, claims.ExpiresAt.After(atNow().Add(-auth.Leeway)) && !claims.IssuedAt.After(atNow().Add(auth.Leeway)))
		require.False(t, claims.Principal().Reaches("") && len(claims.Scopes) > 0)
		var said map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &said))
		require.Equal(t, said["sub"], claims.Subject)
		require.Equal(t, auth.Issuer, said["iss"])
		again, err := us.ring.Sign(claims)
		if err != nil { // it had no room for what is not needed, as names of roles in full
			require.ErrorContains(t, err, "more than")
			return
		}
		same, err := us.Verify(t.Context(), again)
		require.NoError(t, err)
		require.Equal(t, claims.Subject, same.Subject)
		require.Equal(t, claims.Roles, same.Roles)
		require.Equal(t, slices.Clip(claims.Scopes), slices.Clip(same.Scopes))
	})
}

// What Sign makes says the same to Verify.
func TestTokensCarryTheirClaims(t *testing.T) {
	t.Parallel()
	us := newForger(t)
	text := rapid.StringMatching(`[^\x{d800}-\x{dfff}]{1,20}`)
	scope := rapid.Map(rapid.StringMatching(`[a-z][a-z.:-]{0,9}[a-z]\*?`), func(s string) auth.Scope { return auth.Scope(s) })
	rapid.Check(t, func(t *rapid.T) {
		claims := auth.Claims{
			ID: text.Draw(t, "id"), Subject: text.Draw(t, "subject"), RequestID: rapid.String().Draw(t, "request"),
			Audience:  append(rapid.SliceOfN(text, 0, 3).Draw(t, "others"), auth.AudienceAPI),
			IssuedAt:  atNow().Add(-time.Duration(rapid.IntRange(0, 1e6).Draw(t, "age")) * time.Second),
			ExpiresAt: atNow().Add(time.Duration(rapid.IntRange(1, 1e6).Draw(t, "life")) * time.Second),
			Roles:     auth.RolesOf(names().Draw(t, "roles")), Scopes: rapid.SliceOfN(scope, 1, 5).Draw(t, "scopes"),
		}
		token, err := us.ring.Sign(claims)
		require.NoError(t, err)
		got, err := us.Verify(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, claims, got)
	})
}

func FuzzScope(f *testing.F) {
	for _, seed := range []string{"orders", "orders*", "*", "", "a*b", "**", "\xff", "ä*", "\x00*"} {
		f.Add(seed, "orders")
	}
	f.Fuzz(func(t *testing.T, pattern, stream string) {
		scope, err := auth.ParseScope(pattern)
		bound := auth.Principal{Roles: auth.Read, Scopes: []auth.Scope{auth.Scope(pattern)}}
		require.False(t, bound.May(auth.Read, ""), "a scope never gives all streams")
		if err != nil {
			return
		}
		begin := strings.TrimSuffix(pattern, "*")
		require.NotEmpty(t, begin)
		require.True(t, scope.Covers(begin))
		require.Equal(t, begin != pattern, scope.Covers(begin+"x"))
		if scope.Covers(stream) {
			require.True(t, strings.HasPrefix(stream, begin))
		}
	})
}
