package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// maxKey is how much of a text rsc_audit_record can be asked for, in characters.
	maxKey = 600
	// atLayout is how the table has times, which are in the order of their texts.
	atLayout = "2006-01-02T15:04:05.000Z"
	// rounds is how often one page asks for entries.
	rounds = maxScan / batch
)

// asking runs queries: a pool or a transaction.
type asking interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// row is an entry of the table.
type row struct {
	entry int64
	line  string
}

// Page implements Reader. Its cursor is the number of the last entry that was looked at.
func (s *Postgres) Page(ctx context.Context, query Query) (protocol.AuditResponse, error) {
	page := protocol.AuditResponse{Records: []protocol.AuditRecord{}}
	before := int64(math.MaxInt64)
	if query.Cursor != "" {
		number, err := strconv.ParseInt(query.Cursor, 10, 64)
		if err != nil || number < 1 || !isNumber(query.Cursor) {
			return page, protocol.Errorf(protocol.CodeInvalidRequest, "cursor %q is not next of another page", protocol.Echo(query.Cursor))
		}
		before = number
	}
	if err := s.fill(ctx, before, query, &page); err != nil {
		return page, fmt.Errorf("read the audit in PostgreSQL (%s): %w", postgres.StateOf(err), err)
	}
	return page, nil
}

// fill reads a page when it is its turn, so that whoever reads a lot does not take the
// connections away from what is to be recorded.
func (s *Postgres) fill(ctx context.Context, before int64, query Query, page *protocol.AuditResponse) error {
	if err := s.prepared(); err != nil {
		return err
	}
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	case <-ctx.Done():
		return fmt.Errorf("wait for other readers: %w", ctx.Err())
	}
	if query.Cursor == "" && query.whole() {
		return s.newest(ctx, query, page)
	}
	return scanEntries(ctx, s.pool, before, query, page)
}

// newest reads the newest entries and the head in one view, so that they fit each other.
func (s *Postgres) newest(ctx context.Context, query Query, page *protocol.AuditResponse) error {
	view := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, s.pool, view, func(tx pgx.Tx) error {
		head := protocol.AuditHead{Chain: postgresChain}
		err := tx.QueryRow(ctx, "SELECT sequence, hash FROM rsc_audit_head").Scan(&head.Sequence, &head.Hash)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		page.Head = &head
		return scanEntries(ctx, tx, math.MaxInt64, query, page)
	})
}

// scanEntries looks through the entries older than before until the page is full, all were
// looked at, or as many as one page may. Next is the last one of them, nil when there are no
// more.
func scanEntries(ctx context.Context, on asking, before int64, query Query, page *protocol.AuditResponse) error {
	asked := query.Limit
	if query.Reaches != nil { // which the server does not know
		asked = batch
	}
	for range rounds {
		found, err := entries(ctx, on, before, query, asked)
		if err != nil {
			return err
		}
		for i, one := range found {
			if record := one.record(); query.matches(record) {
				page.Records = append(page.Records, record)
			}
			before = one.entry
			if len(page.Records) == query.Limit {
				if i+1 < len(found) || len(found) == asked {
					page.Next = next(before)
				}
				return nil
			}
		}
		if len(found) < asked {
			return nil
		}
	}
	page.Next = next(before)
	return nil
}

func next(before int64) *string {
	text := strconv.FormatInt(before, 10)
	return &text
}

// entries returns the newest entries older than before that may match.
func entries(ctx context.Context, on asking, before int64, query Query, limit int) ([]row, error) {
	statement := "SELECT entry, record FROM rsc_audit_record WHERE entry < $1"
	args := []any{before}
	given := func(condition, value string) {
		args = append(args, value)
		statement += fmt.Sprintf(" AND %s $%d", condition, len(args))
	}
	for _, one := range [][2]string{
		{"stream_prefix =", query.StreamPrefix}, {"consumer_group =", query.ConsumerGroup}, {"principal =", query.Principal},
	} {
		if one[1] == "" {
			continue
		}
		quoted, err := audit.Quote(one[1])
		if err != nil {
			return nil, err
		}
		given(one[0], quoted[:min(len(quoted), maxKey)])
	}
	if !query.From.IsZero() {
		given("at >=", at(query.From))
	}
	if !query.To.IsZero() {
		given("at <=", at(query.To))
	}
	statement += fmt.Sprintf(" ORDER BY entry DESC LIMIT %d", limit)
	rows, err := on.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(from pgx.CollectableRow) (row, error) {
		var one row
		err := from.Scan(&one.entry, &one.line)
		return one, err
	})
}

// at returns a time as the table has it, of the years that it can have.
func at(when time.Time) string {
	switch utc := when.UTC(); {
	case utc.Year() < 0:
		return ""
	case utc.Year() > 9999:
		return "~"
	default:
		return utc.Format(atLayout)
	}
}

// record reads an entry. What is no record is shown as one that has nothing, and one that is
// written in another form than the sink's as one without its hash, so that whoever verifies
// the chain meets it: the table is searched by that form.
func (r row) record() protocol.AuditRecord {
	var record protocol.AuditRecord
	if json.Unmarshal([]byte(r.line), &record) != nil {
		return shaped(protocol.AuditRecord{Chain: postgresChain})
	}
	if line, err := audit.Encode(record); err != nil || string(line) != r.line {
		record.Hash = ""
	}
	return shaped(record)
}
