package client

import (
	"errors"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
)

// Errors of the coordinator's side.
var (
	// ErrUnavailable comes when no coordinator answered: connection refused, timed out,
	// or an answer that is not one of the API's, such as a proxy's error page.
	ErrUnavailable = api.ErrUnavailable
	// ErrUnknownGroup comes when the consumer group does not exist at the coordinator.
	ErrUnknownGroup = errors.New("consumer group is not known to the coordinator")
	// ErrNoRedis comes when Options.Redis is nil and a producer or consumer is started.
	ErrNoRedis = errors.New("no Redis client in Options.Redis")
)

// RetryAfter returns the pause that the answer behind err asked for in its Retry-After
// header, and whether there was one.
func RetryAfter(err error) (time.Duration, bool) {
	var refused *api.RefusedError
	if errors.As(err, &refused) && refused.RetryAfter > 0 {
		return refused.RetryAfter, true
	}
	return 0, false
}
