package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

const (
	// postgresWait bounds how long start-up waits for a server that does not answer yet.
	postgresWait = 30 * time.Second
	// migrationWait bounds one attempt to bring the schema up to date, the wait for another
	// coordinator that does it included.
	migrationWait = 5 * time.Minute
	// maxPostgresPause is the longest pause between two attempts.
	maxPostgresPause = 2 * time.Second
)

// openPostgres returns the store in PostgreSQL, with its schema as this binary needs it. A
// coordinator does not start without: it could neither decide nor tell what it lacks (ADR 0017).
func (a *App) openPostgres(ctx context.Context) (store.Archive, error) {
	pool, err := postgres.Open(ctx, a.cfg.Store.Postgres, postgres.Options{
		Application: "rsc-coordinator", StatementTimeout: 2 * storeTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("store.postgres: %w", err)
	}
	a.postgres = pool
	opened, err := pgstore.New(pool, pgstore.Options{
		KeyPrefix: a.cfg.Store.KeyPrefix, LeaseWait: a.cfg.Coordination.StateMutex.acquireTimeout(),
	})
	if err != nil {
		return nil, fmt.Errorf("store.type postgres: %w", err)
	}
	if err := a.migrate(ctx); err != nil {
		return nil, err
	}
	return opened, nil
}

// migrate brings the schema up to date, and waits for a server that does not take it yet.
func (a *App) migrate(ctx context.Context) error {
	waits, cancel := context.WithTimeout(ctx, postgresWait)
	defer cancel()
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = maxPostgresPause
	for {
		attempt, done := context.WithTimeout(ctx, migrationWait)
		err := pgstore.Migrate(attempt, a.postgres)
		done()
		state := postgres.StateOf(err)
		// What the end of ctx cuts off says nothing about the server.
		final := errors.Is(err, postgres.ErrMigration) || errors.Is(err, postgres.ErrNewerSchema) ||
			!state.Transient() && ctx.Err() == nil
		switch {
		case err == nil:
			return nil
		case final:
			return fmt.Errorf("store.type postgres: %w%s", err, hint(state))
		}
		a.log.Warn("PostgreSQL does not work yet; the start waits for it", "state", state, "error", err)
		if clock.Sleep(waits, pauses.NextBackOff()) != nil {
			return fmt.Errorf("store.type postgres: the server does not work (%s), see store.postgres.url or store.postgres.host: %w", state, err)
		}
	}
}

// hint says what to do where PostgreSQL works and does not let this coordinator work.
func hint(state postgres.State) string {
	if state == postgres.StateNoPerm {
		return "; see store.postgres.username and password, and let the user create tables (docs/operations-runbook.md)"
	}
	if state == postgres.StateNoSchema {
		return "; create the database that store.postgres.database names, or see its search_path: tables are made at the start"
	}
	return ""
}

// postgresFault names why PostgreSQL does not work; nil when the metadata is kept elsewhere or
// err is about something else. The text of the error stays inside.
func (h *health) postgresFault(err error) *protocol.Error {
	unavailable, ok := errors.AsType[*store.UnavailableError](err)
	if h.app.postgres == nil || !ok {
		return nil
	}
	return protocol.Errorf(protocol.CodeStoreUnavailable, "PostgreSQL, which keeps the metadata, does not work now (%s)%s",
		unavailable.State, hint(postgres.State(unavailable.State))).Because(err)
}
