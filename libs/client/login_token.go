package client

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// renewFifths is how many fifths of its life a token is used before there is a new one.
	renewFifths = 4
	// renewBudget bounds a login that is made while the token at hand is still good.
	renewBudget = 5 * time.Second
	// refusedPause is how long a token that took the place of a refused one is kept, though
	// it is refused as well: another login would change nothing.
	refusedPause = 10 * time.Second
	// The pauses after failed logins begin with minPause and double, up to awayPause where
	// nobody answered and to wrongPause where the login was refused.
	minPause   = time.Second
	awayPause  = 5 * time.Second
	wrongPause = time.Minute
)

// tokens holds the token of a login. Times are those of the monotonic clock, counted from
// the moment before the login was sent.
type tokens struct {
	login   Login
	gateway *api.Client // sends no token
	log     *slog.Logger
	turn    chan struct{} // taken by who logs in

	mu       sync.Mutex
	current  token
	replaced time.Time     // when a refused token was last given up
	failed   error         // of the last login, nil when it worked
	pause    time.Duration // after the last failure
	next     time.Time     // before it nobody logs in again
}

// token is what a login gave. The zero value is none.
type token struct {
	text      string
	due, ends time.Time
}

func newTokens(login Login, gateway *api.Client, log *slog.Logger) *tokens {
	return &tokens{login: login, gateway: gateway, log: log, turn: make(chan struct{}, 1)}
}

// Token implements api.Credential. A token that is good is never waited for longer than half
// of what ctx leaves.
func (t *tokens) Token(ctx context.Context) (string, error) {
	held, now := t.held(), clock.Now()
	switch {
	case now.Before(held.due):
		return held.text, nil
	case now.Before(held.ends):
		t.renew(ctx)
		if held := t.held(); held.text != "" {
			return held.text, nil
		}
	}
	return t.obtain(ctx)
}

// Refused implements api.Credential.
func (t *tokens) Refused(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current.text != text {
		return true // another goroutine has done it
	}
	now := clock.Now()
	if !t.replaced.IsZero() && now.Sub(t.replaced) < refusedPause {
		return false
	}
	t.current, t.replaced = token{}, now
	return true
}

func (t *tokens) held() token {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// obtain returns a token when there was none that is good: that of the login which is under
// way, or of another one.
func (t *tokens) obtain(ctx context.Context) (string, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return "", t.failure(0, ctx.Err())
	}
	defer func() { <-t.turn }()
	now := clock.Now()
	if held := t.held(); now.Before(held.ends) {
		return held.text, nil
	}
	if err := t.barred(now); err != nil {
		return "", err
	}
	got, err := t.logIn(ctx)
	switch {
	case err == nil:
		return got.text, nil
	case ctx.Err() != nil: // says nothing about the gateway
		return "", t.failure(0, err)
	default:
		return "", t.bar(err)
	}
}

// renew tries to get a new token while the one at hand is good. Who comes while somebody
// does it goes on with the old one.
func (t *tokens) renew(ctx context.Context) {
	select {
	case t.turn <- struct{}{}:
	default:
		return
	}
	defer func() { <-t.turn }()
	now := clock.Now()
	if now.Before(t.held().due) || t.barred(now) != nil {
		return
	}
	budget := renewBudget
	if deadline, bounded := ctx.Deadline(); bounded {
		budget = min(budget, clock.Until(deadline)/2)
	}
	bounded, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if _, err := t.logIn(bounded); err != nil && ctx.Err() == nil {
		t.log.Warn("login could not be renewed; the token at hand is used until it ends", "error", t.bar(err))
	}
}

// logIn logs in and keeps the token.
func (t *tokens) logIn(ctx context.Context) (token, error) {
	password, err := t.login.password(ctx)
	if err != nil {
		return token{}, err
	}
	sent := clock.Now()
	answer, err := t.gateway.Login(ctx, &protocol.LoginRequest{Username: t.login.Username, Password: password})
	if err != nil {
		return token{}, err
	}
	life := time.Duration(min(answer.ExpiresInSeconds, maxLifeSeconds)) * time.Second
	got := token{text: answer.AccessToken, due: sent.Add(life / 5 * renewFifths), ends: sent.Add(life)}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current, t.failed, t.pause = got, nil, 0
	return got, nil
}
