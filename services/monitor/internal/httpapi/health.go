package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// up is the body of /healthz and /readyz when all is well.
type up struct {
	Status string `json:"status"`
}

// live answers as long as requests are answered at all.
func (a *api) live(context.Context, *http.Request) (any, error) { return up{protocol.HealthUp}, nil }

// ready answers whether requests should be sent here: not while the process terminates, not
// before the first round, and not when the layers below say so.
func (a *api) ready(ctx context.Context, _ *http.Request) (any, error) {
	if a.Gate.Closed() {
		return nil, protocol.Errorf(protocol.CodeTerminating, "this instance is terminating")
	}
	if _, err := a.look(); err != nil {
		return nil, err
	}
	err := a.Health.Ready(ctx)
	var refusal *protocol.Error
	switch {
	case err == nil:
		return up{protocol.HealthUp}, nil
	case errors.As(err, &refusal):
		return nil, err
	default:
		return nil, protocol.Errorf(protocol.CodeStoreUnavailable, "not ready").Because(err)
	}
}

func (a *api) version(context.Context, *http.Request) (any, error) { return a.Build, nil }
