package pages_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/backend"
	"github.com/redis-stream-coordinator/rsc/web/internal/pages"
)

// console is the console before a gateway whose answers a test writes.
type console struct {
	pages   *pages.Pages
	address string
	keys    *auth.Keyring
	// api answers what the console asks, by method and path.
	api *http.ServeMux

	mu    sync.Mutex
	asked []call
}

// call is what the console has asked the API.
type call struct {
	method, path, query, body, subject string
}

// user is who looks in a test; the zero value has not logged in.
type user struct {
	name   string
	roles  auth.Roles
	scopes []auth.Scope
}

// ops may change something, reader may not.
func ops() user    { return user{name: "ops", roles: auth.Read | auth.Write} }
func reader() user { return user{name: "reader", roles: auth.Read} }

const formToken = "form-token-1"

func newConsole(t *testing.T) *console {
	t.Helper()
	key, err := auth.KeyFromSecret("a secret of tests that is long enough")
	require.NoError(t, err)
	c := &console{api: http.NewServeMux()}
	c.keys, err = auth.NewKeyring(key)
	require.NoError(t, err)
	gateway := httptest.NewServer(c.record())
	t.Cleanup(gateway.Close)
	api, err := backend.New(gateway.URL, protocol.BasePath, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, api.Close()) })
	c.pages = pages.New(pages.Config{MaxViewers: 64, Build: protocol.VersionResponse{Version: "v1"}}, pages.Deps{
		API: api, Keys: c.keys, Now: clock.Now, Gate: httpx.NewGate(),
	})
	server := httptest.NewServer(c.pages)
	t.Cleanup(server.Close)
	t.Cleanup(c.pages.Close)
	c.address = server.URL
	return c
}

// record notes what the console asks, and in whose name.
func (c *console) record() http.Handler {
	verifier := auth.NewVerifier(c.keys, clock.Now, auth.AudienceWeb)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := httpx.Bearer(r.Header)
		claims, err := verifier.Verify(r.Context(), token)
		if err != nil {
			refuse(w, protocol.CodeUnauthorized, "no token")
			return
		}
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.asked = append(c.asked, call{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), claims.Subject})
		c.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		c.api.ServeHTTP(w, r)
	})
}

// calls returns what was asked with a method.
func (c *console) calls(method string) []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []call
	for _, each := range c.asked {
		if each.method == method {
			found = append(found, each)
		}
	}
	return found
}

// answers makes the API answer a method and path, below its base path, with JSON.
func (c *console) answers(pattern string, body any) {
	method, path, _ := strings.Cut(pattern, " ")
	c.api.HandleFunc(method+" "+protocol.BasePath+path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	})
}

// refuses makes it refuse.
func (c *console) refuses(pattern string, code protocol.Code, message string) {
	method, path, _ := strings.Cut(pattern, " ")
	c.api.HandleFunc(method+" "+protocol.BasePath+path, func(w http.ResponseWriter, _ *http.Request) { refuse(w, code, message) })
}

func refuse(w http.ResponseWriter, code protocol.Code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(protocol.FaultOf(code).Status)
	_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: code, Message: message})
}

// request returns a request as the gateway sends it on for a user.
func (c *console) request(t *testing.T, who user, method, target string, form url.Values) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.address+target, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	claims := auth.Claims{
		ID: "t-1", Subject: "anonymous", Audience: []string{auth.AudienceWeb}, IssuedAt: clock.Now(), ExpiresAt: clock.Now().Add(time.Minute),
	}
	if who.name != "" {
		claims.Subject, claims.Roles, claims.Scopes = who.name, who.roles, who.scopes
		r.Header.Set(auth.HeaderFormToken, formToken)
	}
	token, err := c.keys.Sign(claims)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// said is an answer.
type said struct {
	status int
	header http.Header
	body   string
}

func (c *console) get(t *testing.T, who user, target string) said {
	t.Helper()
	return send(t, c.request(t, who, http.MethodGet, target, nil))
}

func (c *console) post(t *testing.T, who user, target string, form url.Values) said {
	t.Helper()
	return send(t, c.request(t, who, http.MethodPost, target, form))
}

func send(t *testing.T, r *http.Request) said {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	return said{answer.StatusCode, answer.Header, string(body)}
}
