package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// postgresChain names the one chain of a database.
	postgresChain = "postgres"
	// postgresTries is how often a statement is sent that can be sent again.
	postgresTries = 3
	// statementTimeout ends what nobody waits for any more.
	statementTimeout = 10 * time.Second
	// spared is how many connections who only reads leaves to the others: one for what is
	// appended, one for readiness.
	spared = 2
)

const appendStatement = `SELECT written, head_sequence, head_hash FROM rsc_audit_append($1, $2, $3, $4, $5)`

// Postgres is a sink in PostgreSQL that several gateways share. The records of all that use
// the database are one chain in the table rsc_audit_record, whose head stands in
// rsc_audit_head. A record is written only behind the head for which its hash was made, by one
// function in one transaction that holds the head's row (rsc_audit_append).
//
// It keeps all records, and never changes or removes one: a trigger refuses that. It is safe
// for concurrent use and ends with Close.
type Postgres struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	tail  *tail
	pages chan struct{} // has as many as are read now

	life context.Context
	stop context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex
	absent error // why the tables cannot be used yet; nil when they can
}

// OpenPostgres returns a sink in the database of the settings, whose tables it makes or brings
// up to date first. A server that is away is no error: the sink fails until it is there, and
// goes on trying. It fails where that would not help: the tables belong to a newer gateway, or
// the user may not make them.
func OpenPostgres(ctx context.Context, settings postgres.Settings, log *slog.Logger) (*Postgres, error) {
	pool, err := postgres.Open(ctx, settings, postgres.Options{Application: "rsc-gateway", StatementTimeout: statementTimeout})
	if err != nil {
		return nil, err
	}
	s := &Postgres{
		pool: pool, log: httpx.Logger(log), tail: newTail(postgresChain), absent: errUnprepared,
		pages: make(chan struct{}, max(pool.Config().MaxConns-spared, 1)),
	}
	s.life, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	err = s.prepare(ctx, startBudget)
	if hopeless(err) {
		s.Close()
		return nil, err
	}
	if err != nil {
		s.log.Error("the audit in PostgreSQL is not ready; it is tried again until it is", "state", string(postgres.StateOf(err)), "error", err)
		s.busy.Go(s.prepareLater)
	}
	return s, nil
}

// Close ends the sink's connections. Nothing is appended after it.
func (s *Postgres) Close() {
	s.stop()
	s.busy.Wait()
	s.pool.Close()
}

// Append implements Sink.
func (s *Postgres) Append(ctx context.Context, record protocol.AuditRecord) error {
	if err := s.prepared(); err != nil {
		return err
	}
	_, err := s.tail.append(record, func(before, next protocol.AuditHead, line []byte) (bool, int64, string, error) {
		return s.put(ctx, before, next, line)
	})
	if err != nil {
		return fmt.Errorf("append to the audit in PostgreSQL (%s): %w", postgres.StateOf(err), err)
	}
	return nil
}

// put writes a line if the head is still the one before it. It may send the statement again:
// what was written already is known by its line.
func (s *Postgres) put(ctx context.Context, before, next protocol.AuditHead, line []byte) (written bool, sequence int64, hash string, err error) {
	for range postgresTries {
		row := s.pool.QueryRow(ctx, appendStatement, before.Sequence, before.Hash, next.Sequence, next.Hash, string(line))
		err = row.Scan(&written, &sequence, &hash)
		if err == nil || ctx.Err() != nil || !s.passes(err) {
			break
		}
	}
	return written, sequence, hash, err
}

// passes tells that the same statement may work at once, on another connection where this one
// is of no use any more: after a failover all that wait in the pool lead to the wrong server.
func (s *Postgres) passes(err error) bool {
	if _, dialled := errors.AsType[*pgconn.ConnectError](err); dialled {
		return false // the pool has tried every host
	}
	state := postgres.StateOf(err)
	if state == postgres.StateUnreachable || state == postgres.StateShutdown || state == postgres.StateReadOnly {
		s.pool.Reset()
		return true
	}
	return state == postgres.StateConflict
}
