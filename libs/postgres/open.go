package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// dialTimeout bounds a connection attempt.
	dialTimeout = 5 * time.Second
	// pingTimeout bounds the question whether a connection that was idle still works, so that
	// a caller has time for another one.
	pingTimeout = time.Second
)

// Options say what a service wants of its sessions.
type Options struct {
	// Application is the name that pg_stat_activity shows.
	Application string
	// StatementTimeout ends a statement on the server, also when nobody waits for it any
	// more; 0 is 30 s.
	StatementTimeout time.Duration
}

// Open returns a pool of the settings. It does not connect yet, and is the caller's to close.
//
// Every session works in READ COMMITTED, whatever the server's default is, and a commit that
// was answered is on the server's disk: synchronous_commit off becomes on.
func Open(ctx context.Context, settings Settings, options Options) (*pgxpool.Pool, error) {
	prepared, err := settings.pool()
	if err != nil {
		return nil, fmt.Errorf("read the settings of PostgreSQL: %w", err)
	}
	prepared.PingTimeout = pingTimeout
	prepared.ConnConfig.ConnectTimeout = dialTimeout
	if options.Application != "" && prepared.ConnConfig.RuntimeParams["application_name"] == "" {
		prepared.ConnConfig.RuntimeParams["application_name"] = options.Application
	}
	prepared.AfterConnect = options.setUp
	pool, err := pgxpool.NewWithConfig(ctx, prepared)
	if err != nil {
		return nil, fmt.Errorf("make a pool of PostgreSQL: %w", err)
	}
	return pool, nil
}

// setUp prepares a new session. These are no parameters of the connection, which poolers
// refuse.
func (o Options) setUp(ctx context.Context, conn *pgx.Conn) error {
	limit := o.StatementTimeout
	if limit <= 0 {
		limit = 30 * time.Second
	}
	_, err := conn.Exec(ctx, `
		SELECT set_config('default_transaction_isolation', 'read committed', false),
			set_config('statement_timeout', $1, false),
			set_config('synchronous_commit', CASE current_setting('synchronous_commit')
				WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`,
		strconv.FormatInt(limit.Milliseconds(), 10))
	if err != nil {
		return fmt.Errorf("set up a session: %w", err)
	}
	return nil
}
