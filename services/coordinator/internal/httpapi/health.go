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
func (a *api) live(context.Context, http.ResponseWriter, *http.Request) (answer, error) {
	return answer{http.StatusOK, up{protocol.HealthUp}}, nil
}

// ready answers whether requests should be sent here: not while the process terminates,
// and not when the layers below say so.
func (a *api) ready(ctx context.Context, _ http.ResponseWriter, _ *http.Request) (answer, error) {
	if a.Gate.Closed() {
		return answer{}, protocol.Errorf(protocol.CodeTerminating, "this instance is terminating")
	}
	err := a.Health.Ready(ctx)
	var refusal *protocol.Error
	switch {
	case err == nil:
		return answer{http.StatusOK, up{protocol.HealthUp}}, nil
	case errors.As(err, &refusal):
		return answer{}, err
	default:
		return answer{}, protocol.Errorf(protocol.CodeStoreUnavailable, "not ready").Because(err)
	}
}

// health is 200 whatever it says, as dashboards read the body.
func (a *api) health(ctx context.Context, _ http.ResponseWriter, _ *http.Request) (answer, error) {
	found := a.Health.Health(ctx)
	found.Problems = orEmpty(found.Problems)
	return answer{http.StatusOK, found}, nil
}

func (a *api) version(context.Context, http.ResponseWriter, *http.Request) (answer, error) {
	return answer{http.StatusOK, a.Build}, nil
}
