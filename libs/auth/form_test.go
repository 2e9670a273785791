package auth_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

func TestTokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	good := f.token(f.header(t, nil), payload(t, nil))
	f.takes(t, good)
	parts := strings.Split(good, ".")
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	require.NoError(t, err)
	last := strings.IndexByte(alphabet, parts[2][len(parts[2])-1])
	for _, token := range []string{
		"", ".", "..", "...", good + ".", "." + good, good + "." + parts[2], parts[0] + "." + parts[1], parts[0] + "." + parts[1] + ".",
		parts[0] + ".." + parts[2], "." + parts[1] + "." + parts[2], parts[0] + "," + parts[1] + "," + parts[2],
		good + "==", good + "=", parts[0] + "=." + parts[1] + "." + parts[2],
		parts[0] + "." + parts[1] + "." + base64.StdEncoding.EncodeToString(signature),
		good[:len(good)-1] + alphabet[last+1:last+2], // bits of the last letter that stand for nothing
		good + "\n", good + "\r\n", good + " ", " " + good, "\n" + good, "\t" + good, good + "\x00", parts[0] + "." + parts[1] + ".\n" + parts[2],
		parts[0] + "." + parts[1] + "." + parts[2][:40] + "\n" + parts[2][40:], parts[0] + "." + parts[1] + "\n." + parts[2],
		"Bearer " + good, "\"" + good + "\"", good + "%3D", good + good, good + "A",
		parts[0] + "." + parts[1] + "." + encode(string(signature)+"\x00"), parts[0] + "." + parts[1] + "." + encode(string(signature[:63])),
	} {
		f.refuses(t, token, token)
	}
}

// alphabet is that of base64url.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// A token with one letter changed, anywhere, is none.
func TestEveryLetterOfATokenCounts(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	good := f.token(f.header(t, nil), payload(t, nil))
	for i := range len(good) {
		for _, letter := range []string{"A", "_", ".", "\n", "", "AA"} {
			if token := good[:i] + letter + good[i+1:]; token != good {
				f.refuses(t, token, token)
			}
		}
	}
}

func TestTokenOverTheBoundIsNotLookedAt(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	padded := func(size int) string {
		return f.token(f.header(t, nil), payload(t, map[string]any{"x": strings.Repeat("x", size)}))
	}
	size := 2600
	for len(padded(size+1)) <= 4096 {
		size++
	}
	f.takes(t, padded(size))
	f.refuses(t, padded(size+1), "above 4 kB")
	f.refuses(t, strings.Repeat("a", 1<<20), "far above 4 kB")
	f.refuses(t, strings.Repeat(".", 4096), "dots")
}

func TestRefusalDoesNotRepeatTheToken(t *testing.T) {
	t.Parallel()
	f, stranger := newForger(t), outsider(t)
	for _, token := range []string{
		stranger.token(f.header(t, nil), payload(t, nil)), stranger.token(stranger.header(t, nil), payload(t, nil)),
		f.token(f.header(t, nil), payload(t, map[string]any{"exp": 1})), "hunter2.hunter2.hunter2", f.token(f.header(t, map[string]any{"kid": "hunter2"}), payload(t, nil)),
	} {
		_, err := f.Verify(t.Context(), token)
		require.ErrorIs(t, err, auth.ErrToken)
		require.NotContains(t, err.Error(), "hunter2")
		for part := range strings.SplitSeq(token, ".") {
			require.NotContains(t, err.Error(), part)
		}
	}
}

func TestSignRefusesWhatVerifyWould(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	good := auth.Claims{ID: "j", Subject: "ops", Audience: []string{auth.AudienceAPI}, IssuedAt: atNow(), ExpiresAt: atNow().Add(time.Hour), Roles: auth.Read}
	_, err := f.ring.Sign(good)
	require.NoError(t, err)
	for name, spoil := range map[string]func(*auth.Claims){
		"no subject": func(c *auth.Claims) { c.Subject = "" }, "no id": func(c *auth.Claims) { c.ID = "" },
		"no life":              func(c *auth.Claims) { c.ExpiresAt = c.IssuedAt },
		"subject is not UTF-8": func(c *auth.Claims) { c.Subject = "o\xffps" }, "scope is not UTF-8": func(c *auth.Claims) { c.Scopes = []auth.Scope{"a\xff"} },
		"too long":       func(c *auth.Claims) { c.Subject = strings.Repeat("x", 4096) },
		"no times":       func(c *auth.Claims) { c.IssuedAt, c.ExpiresAt = time.Time{}, time.Time{} },
		"scope is empty": func(c *auth.Claims) { c.Scopes = []auth.Scope{""} }, "scope is everything": func(c *auth.Claims) { c.Scopes = []auth.Scope{"*"} },
	} {
		c := good
		spoil(&c)
		token, err := f.ring.Sign(c)
		require.Error(t, err, name)
		require.Empty(t, token, name)
	}
}
