package audit

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

const (
	// schemaTable knows how far the tables of the audit are.
	schemaTable = "rsc_audit_schema"
	// startBudget bounds how long a start waits for the tables, and prepareBudget one of the
	// tries after it.
	startBudget, prepareBudget = 10 * time.Second, time.Minute
	// codeForbidden is the SQLSTATE of something that the user may not do.
	codeForbidden = "42501"
)

var (
	// errUnprepared comes as long as nothing is known of the tables.
	errUnprepared = errors.New("the audit's tables are not made yet")
	errReadOnly   = errors.New("the server takes no writes: it is a standby, or set to read only")
	errGrants     = errors.New("the user may not append: it needs SELECT and INSERT on rsc_audit_record, SELECT and UPDATE on rsc_audit_head, EXECUTE on rsc_audit_append")
)

//go:embed migrations/*.sql
var migrations embed.FS

// prepare makes the tables or brings them up to date, and takes note of how that went.
func (s *Postgres) prepare(ctx context.Context, budget time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	files, err := fs.Sub(migrations, "migrations")
	if err == nil {
		err = postgres.Migrate(ctx, s.pool, files, schemaTable)
	}
	if err != nil {
		err = fmt.Errorf("prepare the audit in PostgreSQL: %w", explained(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.absent = err
	return err
}

// explained says what to do about a user who may not make tables.
func explained(err error) error {
	if !forbidden(err) {
		return err
	}
	return fmt.Errorf("%w; start a gateway once with audit.postgres.username set to the owner of the audit's tables, "+
		"or let this user create them (GRANT CREATE ON SCHEMA public)", err)
}

func forbidden(err error) bool {
	reply, is := errors.AsType[*pgconn.PgError](err)
	return is && reply.Code == codeForbidden
}

// hopeless tells that trying again does not help: somebody has to change something first.
func hopeless(err error) bool {
	return errors.Is(err, postgres.ErrNewerSchema) || forbidden(err) ||
		errors.Is(err, postgres.ErrMigration) && !postgres.StateOf(err).Transient()
}

// prepareLater tries until the tables are there or the sink is closed.
func (s *Postgres) prepareLater() {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, maxPause
	for clock.Sleep(s.life, pauses.NextBackOff()) == nil {
		if s.prepare(s.life, prepareBudget) == nil {
			s.log.Warn("the audit in PostgreSQL is ready")
			return
		}
	}
}

// prepared returns why the tables cannot be used yet.
func (s *Postgres) prepared() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.absent
}

// Ready tells whether records can be appended now, without doing so: the tables are there, the
// server takes writes and the user may write. The state names what is wrong.
func (s *Postgres) Ready(ctx context.Context) (postgres.State, error) {
	if err := s.prepared(); err != nil {
		return postgres.StateOf(err), err
	}
	var readOnly, granted bool
	err := s.pool.QueryRow(ctx, `SELECT current_setting('transaction_read_only')::boolean,
		has_table_privilege('rsc_audit_record', 'SELECT') AND has_table_privilege('rsc_audit_record', 'INSERT')
		AND has_table_privilege('rsc_audit_head', 'SELECT') AND has_table_privilege('rsc_audit_head', 'UPDATE')
		AND has_function_privilege('rsc_audit_append(bigint, text, bigint, text, text)', 'EXECUTE')`).Scan(&readOnly, &granted)
	switch {
	case err != nil:
		return postgres.StateOf(err), fmt.Errorf("look at the audit in PostgreSQL: %w", err)
	case readOnly:
		return postgres.StateReadOnly, errReadOnly
	case !granted:
		return postgres.StateNoPerm, errGrants
	default:
		return postgres.StateOK, nil
	}
}
