package auth_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// gateway answers with a JWK set that may be changed, and counts who asks.
type gateway struct {
	*httptest.Server

	set   atomic.Pointer[string]
	asked atomic.Int64
}

func newGateway(t *testing.T, set []byte) *gateway {
	t.Helper()
	g := &gateway{}
	g.publish(string(set))
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		g.asked.Add(1)
		_, _ = w.Write([]byte(*g.set.Load()))
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) publish(set string) { g.set.Store(&set) }

func remote(t *testing.T, url string) *auth.Remote {
	t.Helper()
	keys, err := auth.NewRemote(t.Context(), url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return keys
}

func TestTokensAreVerifiedByTheGatewaysSet(t *testing.T) {
	t.Parallel()
	old, young := fromSecret(t, secret), fromSecret(t, outsiders)
	g := newGateway(t, ringOf(t, young, old).JWKS())
	keys := remote(t, g.URL)
	require.True(t, verifies(t, keys, signed(t, ringOf(t, old))))
	require.True(t, verifies(t, keys, signed(t, ringOf(t, young))))
	require.False(t, verifies(t, keys, signed(t, ringOf(t, fromSecret(t, "another")))))
	require.LessOrEqual(t, g.asked.Load(), int64(2))
}

func TestKeyOfARotationIsLearnt(t *testing.T) {
	t.Parallel()
	old, young := fromSecret(t, secret), fromSecret(t, outsiders)
	g := newGateway(t, ringOf(t, old).JWKS())
	keys := remote(t, g.URL)
	require.True(t, verifies(t, keys, signed(t, ringOf(t, old))))
	g.publish(string(ringOf(t, young).JWKS()))
	token := signed(t, ringOf(t, young))
	require.Eventually(t, func() bool { return verifies(t, keys, token) }, time.Minute, 20*time.Millisecond)
	require.False(t, verifies(t, keys, signed(t, ringOf(t, old))), "a withdrawn key goes with the set")
}

func TestGatewayMayComeLater(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, fromSecret(t, secret))
	var there atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !there.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(ring.JWKS())
	}))
	defer server.Close()
	keys := remote(t, server.URL)
	token := signed(t, ring)
	require.False(t, verifies(t, keys, token))
	there.Store(true)
	require.Eventually(t, func() bool { return verifies(t, keys, token) }, time.Minute, 20*time.Millisecond)
}

func TestSetsThatAreNoneGiveNoKeys(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	good := string(f.ring.JWKS())
	for name, answer := range map[string]http.HandlerFunc{
		"huge":            write(strings.TrimSuffix(good, "}") + `,"x":"` + strings.Repeat("x", 1<<20) + `"}`),
		"huge after set":  write(good + strings.Repeat(" ", 1<<20)),
		"broken":          write(good[:len(good)-1]),
		"two":             write(good + good),
		"empty":           write(""),
		"null":            write("null"),
		"page":            write("<html>"),
		"no list":         write(`{"keys":{}}`),
		"not found":       status(http.StatusNotFound, good),
		"not modified":    status(http.StatusNotModified, ""),
		"failure":         status(http.StatusInternalServerError, good),
		"created":         status(http.StatusCreated, good),
		"other curve":     write(strings.Replace(good, "Ed25519", "Ed448", 1)),
		"other type":      write(strings.Replace(good, "OKP", "EC", 1)),
		"for encryption":  write(strings.Replace(good, `"sig"`, `"enc"`, 1)),
		"other algorithm": write(strings.Replace(good, "EdDSA", "HS256", 1)),
		"short key":       write(strings.Replace(good, encode(string(f.key.Public())), "AAAA", 1)),
		"other's key":     write(strings.Replace(good, encode(string(f.key.Public())), encode(string(outsider(t).key.Public())), 1)),
		"secret":          write(fmt.Sprintf(`{"keys":[{"kty":"oct","k":"AAAA","kid":%q,"alg":"EdDSA"}]}`, f.key.ID())),
		"RSA": write(fmt.Sprintf(`{"keys":[{"kty":"RSA","n":%q,"e":"AQAB","kid":%q,"alg":"EdDSA","use":"sig"}]}`,
			strings.Repeat("A", 341)+"B", f.key.ID())),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(answer)
			defer server.Close()
			require.False(t, verifies(t, remote(t, server.URL), f.token(f.header(t, nil), payload(t, nil))))
		})
	}
}

func write(text string) http.HandlerFunc { return status(http.StatusOK, text) }

func status(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(text))
	}
}

func TestKeyUnderAnothersIDIsLeftOut(t *testing.T) {
	t.Parallel()
	f, stranger := newForger(t), outsider(t)
	g := newGateway(t, []byte(strings.Replace(string(stranger.ring.JWKS()), stranger.key.ID(), f.key.ID(), 1)))
	require.False(t, verifies(t, remote(t, g.URL), stranger.token(f.header(t, nil), payload(t, nil))))
}

func TestKeysOfOtherKindsInTheSetAreLeftOut(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	set := strings.Replace(string(f.ring.JWKS()), `{"keys":[`, `{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB","kid":"`+f.key.ID()+`"},`+
		`{"kty":"oct","k":"AAAA","kid":"`+f.key.ID()+`"},{"kty":"OKP","crv":"X25519","x":"AAAA"},{},null,1,"x",[],{"kty":1},{"kty":"OKP","crv":"Ed25519","x":"!"},`, 1)
	g := newGateway(t, []byte(set))
	require.True(t, verifies(t, remote(t, g.URL), f.token(f.header(t, nil), payload(t, nil))))
}

func TestSetOfNoKeysTakesNoneAway(t *testing.T) {
	t.Parallel()
	old, young := fromSecret(t, secret), fromSecret(t, outsiders)
	g := newGateway(t, ringOf(t, old).JWKS())
	keys := remote(t, g.URL)
	require.True(t, verifies(t, keys, signed(t, ringOf(t, old))))
	g.publish(`{"keys":[]}`)
	before := g.asked.Load()
	require.Eventually(t, func() bool {
		return !verifies(t, keys, signed(t, ringOf(t, young))) && g.asked.Load() > before
	}, time.Minute, 20*time.Millisecond)
	require.True(t, verifies(t, keys, signed(t, ringOf(t, old))), "a gateway has one at least, so this is not its set")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, fromSecret(t, secret))
	elsewhere := newGateway(t, ring.JWKS())
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, code))
		require.False(t, verifies(t, remote(t, server.URL), signed(t, ring)))
		server.Close()
	}
	require.Zero(t, elsewhere.asked.Load())
}

func TestCompressedSetIsNotBlownUp(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Accept-Encoding")
	}))
	defer server.Close()
	remote(t, server.URL)
	require.Empty(t, <-asked)
}

func TestEndlessAnswerIsCut(t *testing.T) {
	t.Parallel()
	ring := ringOf(t, fromSecret(t, secret))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<10))); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	require.False(t, verifies(t, remote(t, server.URL), signed(t, ring)))
}

func TestInventedKeyIDsDoNotMakeTheGatewayBusy(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	g := newGateway(t, f.ring.JWKS())
	keys := remote(t, g.URL)
	began := time.Now()
	for i := range 1000 {
		kid := encode(fmt.Sprintf("%032d", i))
		require.False(t, verifies(t, keys, f.token(f.header(t, map[string]any{"kid": kid}), payload(t, nil))))
	}
	require.LessOrEqual(t, g.asked.Load(), 2+int64(time.Since(began)/(2*time.Second)))
	require.True(t, verifies(t, keys, f.token(f.header(t, nil), payload(t, nil))))
}

func TestCallerOfAHungGatewayMayLeave(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	keys := remote(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := keys.PublicKey(ctx, fromSecret(t, secret).ID())
	require.ErrorIs(t, err, auth.ErrUnknownKey)
}

func TestURLThatIsNoneIsRefusedAndNotRepeated(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "hunter2", "/path", "ftp://h/hunter2", "http://", "http:///x", "file:///etc/passwd", "http://a b", "http://ops:hunter2@%zz", "\x7f"} {
		keys, err := auth.NewRemote(t.Context(), url, slog.New(slog.DiscardHandler))
		require.Error(t, err, url)
		require.Nil(t, keys)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestURLIsLoggedWithoutItsUser(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	logged := &lines{got: make(chan string, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := auth.NewRemote(ctx, strings.Replace(server.URL, "http://", "http://ops:hunter2@", 1), slog.New(slog.NewTextHandler(logged, nil)))
	require.NoError(t, err)
	line := <-logged.got
	require.Contains(t, line, "could not be fetched")
	require.NotContains(t, line, "hunter2")
}

type lines struct{ got chan string }

func (l *lines) Write(data []byte) (int, error) {
	l.got <- string(data)
	return len(data), nil
}
