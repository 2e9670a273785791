package pgstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

// SchemaTable is the table that knows how far the schema is.
const SchemaTable = "rsc_schema"

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate makes the tables and functions, or brings them up to date. Of several coordinators
// that start at once one does the work and the others wait until ctx ends. Its errors are
// those of postgres.Migrate; after one of them a coordinator must not start.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	return postgres.Migrate(ctx, pool, files, SchemaTable)
}
