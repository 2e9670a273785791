package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Login asks the gateway for a token, which the caller may give to another Client as
// Options.Token. Applications set Options.Login instead and need not call it. It is refused
// with UNAUTHORIZED, and with RATE_LIMIT_EXCEEDED after too many failures.
func (a *Admin) Login(ctx context.Context, username, password string) (*protocol.LoginResponse, error) {
	return a.api.Login(ctx, &protocol.LoginRequest{Username: username, Password: password})
}

// Logout ends the token of the Client for good.
func (a *Admin) Logout(ctx context.Context) error {
	_, err := a.api.Logout(ctx)
	return err
}

// Session tells whom the gateway takes the caller for, and what that user may do.
func (a *Admin) Session(ctx context.Context) (*protocol.SessionResponse, error) {
	return a.api.Session(ctx)
}
