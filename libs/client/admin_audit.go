package client

import (
	"context"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// AuditQuery is which records of the audit are asked for. Empty fields are no condition.
type AuditQuery struct {
	StreamPrefix, ConsumerGroup, Principal string
	// From and To bound the records' time, both included.
	From, To time.Time
	// Cursor is Next of the page before; empty begins with the newest record.
	Cursor string
	// Limit is 1 … protocol.MaxAudit; 0 takes protocol.DefaultAudit.
	Limit int
}

// Audit reads a page of the gateway's audit, newest first: who asked for which change, and
// what became of it. Next of the answer is the Cursor of the next page, nil at the end; a
// page may be empty and have a next one. It is refused with REDIS_NOT_CONFIGURED where the
// audit goes to a log, and with NOT_FOUND by a coordinator, which keeps none.
func (a *Admin) Audit(ctx context.Context, query AuditQuery) (*protocol.AuditResponse, error) {
	return a.api.Audit(ctx, api.AuditQuery(query))
}
