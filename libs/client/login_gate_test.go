package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	hunter   = "hunter2-secret"
	gateURL  = "http://gateway:8080"
	loginURL = gateURL + "/coord/v1/auth/login"
)

var errGateAway = errors.New("connection refused")

// gate is a gateway in the bubble of a clock: it gives tokens to ops and answers who has a
// valid one. Its fields may be changed between requests.
type gate struct {
	life time.Duration // of tokens
	// slow is how long a login takes, away that nobody answers one.
	slow time.Duration
	away bool
	// refuse, when set, is what every login is refused with.
	refuse protocol.Code
	wait   string // Retry-After of refusals
	// denies makes every token invalid at once, forbids answers 403.
	denies, forbids bool

	mu     sync.Mutex
	logins []time.Duration // when, since the start of the bubble
	calls  []string        // tokens of other requests
	valid  map[string]bool
}

func newGate() *gate { return &gate{life: 100 * time.Second, valid: map[string]bool{}} }

// client returns a client that logs in at the gate, and what it logs.
func (g *gate) client(t *testing.T) (*client.Admin, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	c, err := client.New(client.Options{
		CoordinatorURL: gateURL, Login: client.WithLogin("ops", hunter),
		HTTPClient: &http.Client{Transport: g}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c.Admin(), &log
}

// revoke ends all tokens.
func (g *gate) revoke() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.valid = map[string]bool{}
}

func (g *gate) counts() (logins, calls int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.logins), len(g.calls)
}

// RoundTrip implements http.RoundTripper.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if r.URL.Path == "/coord/v1/auth/login" {
		if err := g.login(r, answer); err != nil {
			return nil, err
		}
		return answer.Result(), nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	g.calls = append(g.calls, token)
	switch {
	case !g.valid[token] || g.denies:
		g.say(answer, protocol.CodeUnauthorized)
	case g.forbids:
		g.say(answer, protocol.CodeForbidden)
	default:
		_, _ = answer.WriteString(`{"streams":[]}`)
	}
	return answer.Result(), nil
}

func (g *gate) login(r *http.Request, answer *httptest.ResponseRecorder) error {
	g.mu.Lock()
	g.logins = append(g.logins, time.Since(bubbleBegan()))
	number, slow := len(g.logins), g.slow
	g.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-r.Context().Done():
		return r.Context().Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var asked protocol.LoginRequest
	err := json.NewDecoder(r.Body).Decode(&asked)
	switch {
	case err != nil:
		return err
	case g.away:
		return errGateAway
	case r.Header.Get("Authorization") != "":
		g.say(answer, protocol.CodeInvalidRequest)
		return nil
	case g.refuse != "":
		g.say(answer, g.refuse)
		return nil
	case asked != protocol.LoginRequest{Username: "ops", Password: hunter}:
		g.say(answer, protocol.CodeUnauthorized)
		return nil
	}
	token := fmt.Sprintf("token-%d", number)
	g.valid[token] = true
	return json.NewEncoder(answer).Encode(protocol.LoginResponse{
		AccessToken: token, TokenType: "Bearer", ExpiresInSeconds: int64(g.life / time.Second),
	})
}

func (g *gate) say(answer *httptest.ResponseRecorder, code protocol.Code) {
	if g.wait != "" {
		answer.Header().Set("Retry-After", g.wait)
	}
	answer.WriteHeader(protocol.FaultOf(code).Status)
	_ = json.NewEncoder(answer).Encode(protocol.ErrorResponse{ErrorCode: code, Message: "no"})
}

// bubbleBegan is when every bubble begins.
func bubbleBegan() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

// pass lets the time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }

func ask(ctx context.Context, a *client.Admin) error {
	_, err := a.Streams(ctx)
	return err
}
