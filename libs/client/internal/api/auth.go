package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Credential gives the bearer tokens of requests. It is safe for use by several goroutines.
type Credential interface {
	// Token returns the token of the next request; empty sends none.
	Token(ctx context.Context) (string, error)
	// Refused is told that a request with token was answered 401. It reports whether Token
	// may return another one now, with which the request is sent once more.
	Refused(token string) bool
}

// TokenFunc is a Credential that knows of no other token than the one it returns.
type TokenFunc func(ctx context.Context) (string, error)

// Token implements Credential.
func (f TokenFunc) Token(ctx context.Context) (string, error) { return f(ctx) }

// Refused implements Credential.
func (TokenFunc) Refused(string) bool { return false }

// LoginURL returns where Login sends to.
func (c *Client) LoginURL() string { return c.base + "/auth/login" }

// Login asks the gateway for a token. It sends no token itself.
func (c *Client) Login(ctx context.Context, req *protocol.LoginRequest) (*protocol.LoginResponse, error) {
	var answer protocol.LoginResponse
	_, err := c.do(ctx, call{method: http.MethodPost, url: c.LoginURL(), body: req, anonymous: true}, &answer)
	switch {
	case err != nil:
		return nil, err
	case answer.AccessToken == "" || answer.ExpiresInSeconds <= 0:
		return nil, fmt.Errorf("%w: the answer has no token that is valid for a time", ErrUnavailable)
	}
	return &answer, nil
}

// Logout ends the token that is sent with it.
func (c *Client) Logout(ctx context.Context) (*protocol.LogoutResponse, error) {
	return roundTrip[protocol.LogoutResponse](ctx, c, http.MethodPost, c.base+"/auth/logout", nil)
}

// Session tells whom the gateway takes the caller for.
func (c *Client) Session(ctx context.Context) (*protocol.SessionResponse, error) {
	return roundTrip[protocol.SessionResponse](ctx, c, http.MethodGet, c.base+monitoring+"/session", nil)
}
