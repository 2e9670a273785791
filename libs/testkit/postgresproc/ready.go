package postgresproc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	readyBudget = 2 * time.Minute
	readyPoll   = 10 * time.Millisecond
)

var (
	errEnded    = errors.New("postgres ended while starting")
	errStranger = errors.New("another server answers on the port")
)

// awaitReady returns when the server takes sessions and has done with its recovery, or when
// it ended or ctx did.
func (s *Server) awaitReady(ctx context.Context) error {
	for {
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		if s.proc.ended() {
			return errEnded
		}
		if clock.Sleep(ctx, readyPoll) != nil {
			return fmt.Errorf("not ready in %s: %w", readyBudget, err)
		}
	}
}

// answers returns nil when it is this server that answers on the port.
func (s *Server) answers(ctx context.Context) error {
	return s.session(ctx, "postgres", func(conn *pgx.Conn) error {
		var data string
		if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
			return err
		}
		if data != s.Data() {
			return errStranger
		}
		return nil
	})
}

// session runs do with a superuser's session that lives no longer than the call.
func (s *Server) session(ctx context.Context, database string, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.url(superuser, database))
	if err != nil {
		return err
	}
	return errors.Join(do(conn), conn.Close(ctx))
}
