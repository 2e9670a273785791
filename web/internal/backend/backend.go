// Package backend asks the gateway's API for the console, always in the name of who looks at a
// page: with the token that the gateway sent along with that one's request. So rights, limits
// and audit are those of the user, and the console holds no credential of its own (ADR 0013).
package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// errNobody is a call without a token, which would be answered with 401.
var errNobody = errors.New("nobody is logged in")

type tokenKey struct{}

// With returns a context whose calls are made with the token that source has when they are made;
// source is safe for use by several goroutines.
func With(ctx context.Context, source func() string) context.Context {
	return context.WithValue(ctx, tokenKey{}, source)
}

func tokenOf(ctx context.Context) (string, error) {
	source, _ := ctx.Value(tokenKey{}).(func() string)
	if source == nil {
		return "", errNobody
	}
	token := source()
	if token == "" {
		return "", errNobody
	}
	return token, nil
}

// Backend is the API as the console uses it. It is safe for concurrent use.
type Backend struct {
	*client.Admin

	calls *client.Client
}

// New returns the API of a gateway's URL below basePath. It does not connect. Close ends it.
func New(gateway, basePath string, log *slog.Logger) (*Backend, error) {
	calls, err := client.New(client.Options{
		CoordinatorURL: gateway, BasePath: basePath, TokenSource: tokenOf, Logger: log,
	})
	if err != nil {
		return nil, fmt.Errorf("gateway's API: %w", err)
	}
	return &Backend{Admin: calls.Admin(), calls: calls}, nil
}

// Close closes the connections that are not in use.
func (b *Backend) Close() error { return b.calls.Close() }
