package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
)

// Login is a user of the gateway, for Options.Login. The Client logs in with its first
// request, once for all goroutines, and again when four fifths of the token's life have
// passed, or at once when the token is refused. Its printed form hides the password.
//
// A user who sends heartbeats needs the role MEMBER.
type Login struct {
	// Username is required.
	Username string
	// Password may be empty where PasswordFunc is set.
	Password string `json:"-"`
	// PasswordFunc replaces Password when it is set: it is asked at each login, so that the
	// password may change while the application runs.
	PasswordFunc func(ctx context.Context) (string, error) `json:"-"`
	// GatewayURL is where the gateway answers, for applications that otherwise ask a
	// coordinator directly; empty takes Options.CoordinatorURL.
	GatewayURL string
}

// WithLogin returns the Login of a user with a fixed password, for Options.Login.
func WithLogin(username, password string) *Login {
	return &Login{Username: username, Password: password}
}

// String names the user and hides the password.
func (l Login) String() string { return "login of " + l.Username }

// GoString does the same for %#v.
func (l Login) GoString() string { return l.String() }

// password returns the password of the next login.
func (l Login) password(ctx context.Context) (string, error) {
	if l.PasswordFunc == nil {
		return l.Password, nil
	}
	password, err := l.PasswordFunc(ctx)
	if err != nil {
		return "", fmt.Errorf("get password: %w", err)
	}
	return password, nil
}

// LoginError comes from every call that needs a token while the gateway gives none. By
// errors.Is it is what the gateway answered: ErrUnauthorized, ErrRateLimited
// or ErrUnavailable, among others.
type LoginError struct {
	// URL is where the login was tried.
	URL string
	// Username is the user's name.
	Username string
	// RetryAfter is how long no other login is tried; calls until then get the same error
	// without asking the gateway. 0 tries with the next call.
	RetryAfter time.Duration
	// Err is what went wrong.
	Err error
}

// Error implements error; it names the next step.
func (e *LoginError) Error() string {
	return fmt.Sprintf("log in as %s at %s: %v; %s", e.Username, e.URL, e.Err, e.next())
}

// Unwrap returns Err.
func (e *LoginError) Unwrap() error { return e.Err }

// next says what to do about it.
func (e *LoginError) next() string {
	refused, answered := errors.AsType[*api.RefusedError](e.Err)
	switch {
	case errors.Is(e.Err, ErrUnauthorized):
		return "check the user name and the password"
	case errors.Is(e.Err, ErrForbidden):
		return "ask the gateway's operator why this user may not log in"
	case errors.Is(e.Err, ErrRateLimited):
		return fmt.Sprintf("the next login is tried in %s; until then check that the password is right everywhere",
			e.RetryAfter.Round(time.Second))
	case answered && refused.Status < 500:
		return "check that this is the URL of the gateway: coordinators have no logins"
	case errors.Is(e.Err, ErrUnavailable):
		return "check that the gateway answers there"
	default:
		return "it is tried again with a later request"
	}
}
