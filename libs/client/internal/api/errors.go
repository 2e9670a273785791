package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// ErrUnavailable is wrapped when no coordinator answered: the connection failed, the
// request timed out, or the answer is not one of the API's.
var ErrUnavailable = errors.New("coordinator unavailable")

// What a RefusedError is, by errors.Is and its status.
var (
	// ErrUnauthorized is a 401: there is no token, or it is not valid.
	ErrUnauthorized = errors.New("not authenticated")
	// ErrForbidden is a 403: the user may not do that.
	ErrForbidden = errors.New("not allowed")
	// ErrRateLimited is a 429: there were too many requests.
	ErrRateLimited = errors.New("too many requests")
)

// maxErrorBytes bounds what is read of the body of a refusal.
const maxErrorBytes = 64 << 10

// maxRetryAfter bounds what a Retry-After header may ask for.
const maxRetryAfter = 10 * time.Minute

// RefusedError is an answer with an error status. It unwraps to a *protocol.Error when
// the body is the API's, otherwise to an error that wraps ErrUnavailable.
type RefusedError struct {
	// Status is the HTTP status.
	Status int
	// RetryAfter is the pause that the answer asks for, at most 10 min; 0 if it does not.
	RetryAfter time.Duration
	// Err is what the body says.
	Err error
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("HTTP %d: %v", e.Status, e.Err) }

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

// Is tells whether the status is the one that target stands for.
func (e *RefusedError) Is(target error) bool {
	switch target {
	case ErrUnauthorized:
		return e.Status == http.StatusUnauthorized
	case ErrForbidden:
		return e.Status == http.StatusForbidden
	case ErrRateLimited:
		return e.Status == http.StatusTooManyRequests
	}
	return false
}

// CodeOf returns the API's code behind err, and "" if there is none.
func CodeOf(err error) protocol.Code {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Code
	}
	return ""
}

// refusal reads the error answer of response.
func refusal(response *http.Response) error {
	refused := &RefusedError{
		Status:     response.StatusCode,
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	var body protocol.ErrorResponse
	encoded, err := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
	if err == nil {
		err = json.Unmarshal(encoded, &body)
	}
	if err != nil || body.ErrorCode == "" {
		refused.Err = fmt.Errorf("%w: the answer has no error code", ErrUnavailable)
		return refused
	}
	if body.RequestID == "" {
		body.RequestID = response.Header.Get("X-Request-Id")
	}
	refused.Err = &protocol.Error{Code: body.ErrorCode, Message: body.Message, RequestID: body.RequestID}
	return refused
}

// retryAfter reads the header's two forms, seconds and a date.
func retryAfter(header string) time.Duration {
	if header == "" {
		return 0
	}
	var pause time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		pause = time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		pause = clock.Until(date)
	}
	return min(max(pause, 0), maxRetryAfter)
}
