package client

import (
	"errors"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// maxLifeSeconds bounds what a token's life is taken for: ten years.
const maxLifeSeconds = 10 * 365 * 24 * 60 * 60

// barred returns the error of the last login while no other one may be tried.
func (t *tokens) barred(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil || !now.Before(t.next) {
		return nil
	}
	return t.failure(t.next.Sub(now), t.failed)
}

// bar notes a failed login, so that none is tried for a while, and returns its error. The
// pause is the one that the gateway asks for, or grows from one failure to the next: who
// asks with a wrong password each second would be locked out.
func (t *tokens) bar(err error) error {
	longest := wrongPause
	if errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnauthorized) {
		longest = awayPause
	}
	var asked time.Duration
	if refused, ok := errors.AsType[*api.RefusedError](err); ok {
		asked = refused.RetryAfter
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pause = min(max(minPause, 2*t.pause), longest)
	pause := max(t.pause, asked)
	t.failed, t.next = err, clock.Now().Add(pause)
	return t.failure(pause, err)
}

func (t *tokens) failure(again time.Duration, err error) error {
	return &LoginError{URL: t.gateway.LoginURL(), Username: t.login.Username, RetryAfter: again, Err: err}
}
