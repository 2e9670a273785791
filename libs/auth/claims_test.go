package auth_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// dgrijalva/jwt-go #422: an empty list of audiences passed for all of them.
func TestTokenForAnotherAudienceIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, audience := range []any{
		nil,
		[]string{},
		raw("null"), raw("[null]"),
		[]string{""},
		[]string{"", ""},
		"api", "",
		[]string{auth.AudienceMember, auth.AudienceCoordinator},
		[]string{"API"},
		[]string{"api "},
		[]any{"api", 1},
		[]any{[]string{"api"}},
		map[string]string{"api": "api"},
		1, true,
	} {
		text := payload(t, map[string]any{"aud": audience})
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
	f.takes(t, f.token(f.header(t, nil), payload(t, map[string]any{"aud": []string{auth.AudienceMember, auth.AudienceAPI}})))
}

func TestVerifierOfNoAudienceTakesNothing(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	nobody := auth.NewVerifier(f.ring, atNow)
	for _, audience := range []any{[]string{auth.AudienceAPI}, []string{""}, []string{}, []string{"", ""}} {
		_, err := nobody.Verify(t.Context(), f.token(f.header(t, nil), payload(t, map[string]any{"aud": audience})))
		require.ErrorIs(t, err, auth.ErrToken)
	}
}

func TestTokenOfAnotherIssuerIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, issuer := range []any{nil, "", "other", strings.ToUpper(auth.Issuer), auth.Issuer + "/", []string{auth.Issuer}, 1, raw("null")} {
		text := payload(t, map[string]any{"iss": issuer})
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
}

func TestTokenOfNobodyOrWithoutIDIsRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, claim := range []string{"sub", "jti"} {
		for _, value := range []any{nil, "", 1, raw("null"), []string{"ops"}} {
			text := payload(t, map[string]any{claim: value})
			f.refuses(t, f.token(f.header(t, nil), text), text)
		}
	}
}

func TestRolesThatAreNoneGiveNothing(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, roles := range []any{
		nil, raw("null"), []string{}, []string{"read", "Write", "admin", " READ", "READ ", "READ,WRITE", "", "ROOT", "ROLE_ADMIN", "АDMIN", "READ\x00"},
	} {
		text := payload(t, map[string]any{"roles": roles})
		require.Zero(t, f.takes(t, f.token(f.header(t, nil), text)).Roles, text)
	}
	for _, roles := range []any{"ADMIN", "READ", raw(`{"ADMIN":true}`), 7, []any{"READ", 1}, []any{[]string{"ADMIN"}}, []any{nil}} {
		text := payload(t, map[string]any{"roles": roles})
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
}

func TestScopesThatAreNoListAreRefused(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, scopes := range []any{"orders*", raw("{}"), []any{1}, []any{nil}, true} {
		text := payload(t, map[string]any{"scopes": scopes})
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
}

// What a token is bound to must not be lost on the way: no scope is every stream.
func TestScopesThatAreNoneBindToNothing(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, scopes := range []any{[]string{""}, []string{"*"}, []string{"a*b*"}, []string{"**"}} {
		text := payload(t, map[string]any{"scopes": scopes})
		claims, err := f.Verify(t.Context(), f.token(f.header(t, nil), text))
		if err == nil {
			require.False(t, claims.Principal().May(auth.Read, "orders"), text)
		}
	}
}

func TestPayloadIsReadStrictly(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	good := payload(t, nil)
	begin := strings.TrimSuffix(good, "}")
	for _, text := range []string{
		begin + `,"sub":"admin"}`, begin + `,"roles":["ADMIN"]}`, begin + `,"exp":9999999999}`, begin + `,"\u0073ub":"admin"}`, begin + `,"x":1,"x":2}`,
		begin, good + good, good + "x", good + "\x00", "\uFEFF" + good, "", "null", "[]", "[" + good + "]", `"` + good + `"`, "1", "{}",
		begin + `,"x":"` + "\xff" + `"}`, begin + `,"x":"\ud800"}`, begin + `,"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}",
		strings.Replace(good, `"sub"`, `"Sub"`, 1), strings.Replace(good, `"exp"`, `"EXP"`, 1), "//\n" + good, strings.Replace(good, ":", "=", 1),
	} {
		f.refuses(t, f.token(f.header(t, nil), text), text)
	}
	f.takes(t, f.token(f.header(t, nil), begin+`,"unknown":{"a":[1]}}`))
	f.takes(t, f.token(f.header(t, nil), " "+good+"\n"))
	require.Equal(t, "ops", f.takes(t, f.token(f.header(t, nil), begin+`,"SUB":"admin","Roles":["ADMIN"]}`)).Subject)
}
