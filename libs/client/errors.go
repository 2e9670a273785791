package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Errors of the coordinator's side.
var (
	// ErrUnavailable comes when no coordinator answered: connection refused, timed out,
	// or an answer that is not one of the API's, such as a proxy's error page.
	ErrUnavailable = api.ErrUnavailable
	// ErrUnauthorized comes when there is no valid token (401): with Options.Login the login
	// was refused (LoginError), or the new token was as well; otherwise the application has to
	// log in.
	ErrUnauthorized = api.ErrUnauthorized
	// ErrForbidden comes when the user lacks the role, or the scope of the stream (403).
	ErrForbidden = api.ErrForbidden
	// ErrRateLimited comes when there were too many changes or logins (429); RetryAfter tells
	// how long to wait.
	ErrRateLimited = api.ErrRateLimited
	// ErrUnknownGroup comes when the consumer group does not exist at the coordinator.
	ErrUnknownGroup = errors.New("consumer group is not known to the coordinator")
	// ErrNoRedis comes when Options.Redis is nil and a producer or consumer is started.
	ErrNoRedis = errors.New("no Redis client in Options.Redis")
)

// groupError adds ErrUnknownGroup to an answer that says so.
func groupError(err error) error {
	code := api.CodeOf(err)
	if code == protocol.CodeGroupNotFound || code == protocol.CodeStreamNotFound {
		return fmt.Errorf("%w: %w", ErrUnknownGroup, err)
	}
	return err
}

// RetryAfter returns the pause that the answer behind err asked for in its Retry-After
// header, or that is left until the next login, and whether there was one.
func RetryAfter(err error) (time.Duration, bool) {
	if login, ok := errors.AsType[*LoginError](err); ok {
		return login.RetryAfter, login.RetryAfter > 0
	}
	if refused, ok := errors.AsType[*api.RefusedError](err); ok && refused.RetryAfter > 0 {
		return refused.RetryAfter, true
	}
	return 0, false
}
