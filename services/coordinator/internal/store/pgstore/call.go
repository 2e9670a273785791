package pgstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

// tries is how often a call is sent when it can be sent again.
const tries = 3

// retryPause is the longest pause before a call is sent again.
const retryPause = 20 * time.Millisecond

// effect tells whether a call may write.
type effect bool

const (
	reads  effect = false
	writes effect = true
)

// errAnswer comes when a statement answers nothing, which none of this package does.
var errAnswer = errors.New("the statement has no answer")

// callError is what call returns: the last error and whether any try may have had its effect.
type callError struct {
	cause   error
	written bool
}

func (e *callError) Error() string { return e.cause.Error() }

func (e *callError) Unwrap() error { return e.cause }

// into returns a reader of the only row of an answer.
func into(targets ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		defer rows.Close()
		if !rows.Next() {
			// An error of the statement comes here too; StateOf would take ErrNoRows beside it for an answer.
			if err := rows.Err(); err != nil {
				return err
			}
			return errAnswer
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	}
}

// call sends one statement, which is a transaction of its own, and has its answer read. It
// sends it again after a broken connection, a server that ended or takes no writes any more,
// a serialization failure or a deadlock: every statement of this package may run twice. Its
// error is a store.UnavailableError.
func (s *Store) call(ctx context.Context, effect effect, read func(pgx.Rows) error, statement string, args ...any) error {
	written := false
	for try := 1; ; try++ {
		sent, err := s.send(ctx, read, statement, args)
		if err == nil {
			return nil
		}
		written = written || bool(effect) && sent && !postgres.Undone(err)
		if !s.passes(err) || try == tries || clock.Sleep(ctx, rand.N(retryPause)) != nil {
			return fault(&callError{cause: err, written: written})
		}
	}
}

// send sends a statement once and tells whether it has left this process.
func (s *Store) send(ctx context.Context, read func(pgx.Rows) error, statement string, args []any) (bool, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	rows, err := conn.Query(ctx, statement, args...)
	if err != nil {
		return true, err
	}
	return true, read(rows)
}

// passes tells that the same call may work at once, on another connection where this one is
// of no use any more: after a failover all that wait in the pool lead to the wrong server
// (field case F21). A connection that was refused is not tried again here: the pool has
// tried every host.
func (s *Store) passes(err error) bool {
	if _, dialled := errors.AsType[*pgconn.ConnectError](err); dialled {
		return false
	}
	state := postgres.StateOf(err)
	if state == postgres.StateUnreachable || state == postgres.StateShutdown || state == postgres.StateReadOnly {
		s.pool.Reset()
		return true
	}
	return state == postgres.StateConflict
}
