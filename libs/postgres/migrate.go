package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

var (
	// ErrMigration comes when a migration has failed: the schema is that of the migrations
	// before it, and this binary cannot work with it.
	ErrMigration = errors.New("migrate the schema")
	// ErrNewerSchema comes when the schema was made by a newer binary than this one.
	ErrNewerSchema = errors.New("the schema is newer than this binary")
)

// Migrate brings the schema up to date with the files NUMBER_name.sql of migrations, in
// goose's form, and keeps in the table how far it is. It may run in many processes at once:
// each waits for its turn, until ctx ends, and finds the work done.
//
// Each file is one transaction. When it fails, the schema stays what it was, ErrMigration
// names the file, and the service should not start. ErrNewerSchema comes when the table
// knows a file that migrations do not have; nothing was changed then.
//
// It uses connections of its own beside the pool's.
func Migrate(ctx context.Context, pool *pgxpool.Pool, migrations fs.FS, table string) error {
	db := stdlib.OpenDB(*pool.Config().ConnConfig)
	defer func() { _ = db.Close() }()
	turn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to migrate the schema: %w", err)
	}
	defer func() { _ = turn.Close() }()
	// The lock goes with its session, also when this process dies.
	if _, err := turn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", lockOf(table)); err != nil {
		return fmt.Errorf("wait for the turn to migrate the schema: %w", err)
	}
	return migrate(ctx, db, migrations, table)
}

func migrate(ctx context.Context, db *sql.DB, migrations fs.FS, table string) error {
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations,
		goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations of %s: %w", table, err)
	}
	stored, known, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read how far the schema of %s is: %w", table, err)
	}
	if stored > known {
		return fmt.Errorf("%w: %s is at %d, this binary knows %d; run the binary that made it, or a newer one",
			ErrNewerSchema, table, stored, known)
	}
	if _, err := provider.Up(ctx); err != nil {
		return failed(err, stored)
	}
	return nil
}

// failed names the migration that has failed, and what the schema is now.
func failed(err error, version int64) error {
	partial, ok := errors.AsType[*goose.PartialError](err)
	if !ok {
		return fmt.Errorf("%w: %w; it is at version %d as before", ErrMigration, err, version)
	}
	for _, done := range partial.Applied {
		version = done.Source.Version
	}
	return fmt.Errorf("%w: %s has failed and was undone, the schema is intact at version %d: %w",
		ErrMigration, path.Base(partial.Failed.Source.Path), version, partial.Err)
}

// lockOf returns the number of the lock, one for each table of versions.
func lockOf(table string) int64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte("redis-stream-coordinator/" + table))
	return int64(sum.Sum64())
}
