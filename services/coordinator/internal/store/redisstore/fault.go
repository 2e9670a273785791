package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// errNotHash is the cause when the key of a record holds something else than a hash.
var errNotHash = errors.New("the key holds another type than a hash")

// callError is what run returns: the last error and whether any try may have had its
// effect.
type callError struct {
	cause   error
	written bool
}

func (e *callError) Error() string { return e.cause.Error() }

func (e *callError) Unwrap() error { return e.cause }

// stateOf names what err stands for. To redisx's states it adds an ended context.
func stateOf(err error) redisx.State {
	state := redisx.StateOf(err)
	if state != redisx.StateOther {
		return state
	}
	if errors.Is(err, context.Canceled) {
		return redisx.StateTimeout
	}
	return state
}

// undelivered tells that a request certainly had no effect: Redis refused it, or it
// was never sent.
func undelivered(err error) bool {
	if _, refused := errors.AsType[redis.Error](err); refused {
		return true
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	for _, unsent := range []error{redis.ErrPoolTimeout, redis.ErrPoolExhausted, redis.ErrClosed} {
		if errors.Is(err, unsent) {
			return true
		}
	}
	return false
}

// fault turns an error of run into one of the contract. A missing key is never
// concluded from an error (field case F22).
func (s *Store) fault(key store.Key, err error) error {
	state := stateOf(err)
	if state == redisx.StateWrongType {
		return &store.CorruptError{Key: key, Field: fieldKey, Cause: errNotHash}
	}
	var call *callError
	written := errors.As(err, &call) && call.written
	return &store.UnavailableError{State: string(state), Written: written, Cause: fmt.Errorf("redis: %w", err)}
}
