package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// WaitReplicas says whether Create and Commit answer only after a replica has what they
// wrote (protocol M3).
type WaitReplicas string

// The values of WaitReplicas.
const (
	// WaitAuto waits for one replica when the primary feeds any at the moment of the
	// write. One that still copies the whole data set is none yet: it confirms nothing.
	// Where INFO is refused in scripts nobody can tell, and there is no wait.
	WaitAuto WaitReplicas = "auto"
	// WaitOff never waits: a failover can lose what has been answered.
	WaitOff WaitReplicas = "off"
)

var (
	errWait        = errors.New("wait for replicas must be auto or off, and last at least 1ms")
	errNoReplica   = errors.New("no replica has confirmed the write in time")
	errNotConfirms = errors.New("the write cannot be confirmed on the server that has the record now")
)

// checkWait refuses what has no meaning; Redis takes a wait of 0 ms for one without end.
func (o Options) checkWait() error {
	if o.WaitReplicas != WaitAuto && o.WaitReplicas != WaitOff || o.WaitTimeout < time.Millisecond {
		return fmt.Errorf("%w: %w: %q, %v", store.ErrInvalid, errWait, o.WaitReplicas, o.WaitTimeout)
	}
	return nil
}

// takeHistory takes the last entry off the answer of a structural write: the identity of
// the server that took it, empty where that server feeds no replica.
func (r *reply) takeHistory() (string, error) {
	last := len(r.rest) - 1
	history, ok := r.text(last)
	if last < 0 || !ok {
		return "", r.unexpected()
	}
	r.rest = r.rest[:last]
	return history, nil
}

// replicated returns when a replica has what a script has written to the record on the
// server with that history. Its only error is NOREPLICAS: the write is there, but a
// failover may still lose it, so nobody must hear of it (protocol M3).
func (s *Store) replicated(ctx context.Context, record, history string) error {
	if history == "" || s.options.WaitReplicas == WaitOff {
		return nil
	}
	if err := s.confirm(ctx, record, history); err != nil {
		return &store.UnavailableError{State: string(redisx.StateNoReplicas), Written: true, Cause: fmt.Errorf("redis: %w", err)}
	}
	return nil
}

// confirm has one more write follow on one connection and waits for that one: WAIT counts
// what its own connection wrote, which the pool does not promise for the write before.
// Replicas take writes in order, so whoever has the later one has the earlier one too.
func (s *Store) confirm(ctx context.Context, record, history string) error {
	node, err := redisx.Primary(ctx, s.client, record)
	if err != nil {
		return err
	}
	pipe := node.Pipeline()
	followed := pipe.Do(ctx, "eval", s.scripts.follow.source, 1, record, history)
	confirmed := pipe.Do(ctx, "wait", 1, s.options.WaitTimeout.Milliseconds())
	if _, err := pipe.Exec(ctx); err != nil {
		return fmt.Errorf("wait for a replica: %w", err)
	}
	answer, err := newReply(followed.Val())
	if err != nil {
		return err
	}
	replicas, err := confirmed.Int64()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errReply, err)
	case answer.word != wordOK:
		return fmt.Errorf("%w: %s", errNotConfirms, answer.word)
	case replicas < 1:
		return fmt.Errorf("%w: %v", errNoReplica, s.options.WaitTimeout)
	}
	return nil
}
