package client

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/route"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Errors of producers. A record whose publishing failed with any other error than
// ErrUncertain was not written.
var (
	// ErrUncertain comes when the connection failed after the write may have reached
	// Redis: the record may be in the stream or not. Publishing it again may duplicate it.
	ErrUncertain = errors.New("it is not known whether the record was written")
	// ErrStaleRoute comes when the shard's key was gone, or sealed, also after a refresh.
	ErrStaleRoute = errors.New("the shard of the record cannot be written")
	// ErrRoutingExpired comes while the routing's lease is over and no refresh works.
	ErrRoutingExpired = route.ErrExpired
	// ErrNoShards comes when the stream has no shards to write to.
	ErrNoShards = errors.New("stream has no shards")
	// ErrPaused comes between Pause and Resume.
	ErrPaused = errors.New("producer is paused")
	// ErrProducerClosed comes from a producer that is closed.
	ErrProducerClosed = errors.New("producer is closed")
	// ErrBufferFull comes from PublishAsync when its context ends before there is room.
	ErrBufferFull = errors.New("buffer of the producer is full")
	// ErrInvalidRecord comes when a record has no fields, or a value of a type that Redis
	// cannot be given.
	ErrInvalidRecord = errors.New("record cannot be written")
)

// outcome is what is known about a write that did not return an id.
type outcome int

const (
	outcomeRejected  outcome = iota // not written, and trying again will not help
	outcomeTransient                // not written, trying again may help
	outcomeStale                    // not written, the routing is stale
	outcomeUncertain                // possibly written
)

// outcomeOf tells what the error of an XADD means. Whatever is not known to have happened
// before the command was sent counts as uncertain.
func outcomeOf(err error) outcome {
	if errors.Is(err, redis.Nil) { // NOMKSTREAM found no key
		return outcomeStale
	}
	if reply, ok := errors.AsType[redis.Error](err); ok {
		return outcomeOfReply(redisx.StateOf(reply))
	}
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "dial",
		errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted):
		return outcomeTransient
	case errors.Is(err, redis.ErrClosed), errors.Is(err, errNotSent):
		return outcomeRejected
	default:
		return outcomeUncertain
	}
}

// outcomeOfReply goes by the state that an error reply stands for. Such a reply tells that
// the command was not carried out (field case F22).
func outcomeOfReply(state redisx.State) outcome {
	switch {
	case state == redisx.StateWrongType: // a sealed shard's marker (L5)
		return outcomeStale
	case state.Transient():
		return outcomeTransient
	default:
		return outcomeRejected
	}
}

// errNoReply comes when a hook of the Redis client swallowed the command.
var errNoReply = errors.New("no reply")

// errNotSent marks errors that came before anything was sent.
var errNotSent = errors.New("not sent")

// sendable fails when ctx is over, so that nothing is sent and nothing is uncertain.
func sendable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	return nil
}
