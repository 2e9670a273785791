package audit

import (
	"context"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Sink keeps records, in the order in which they are appended, and chains them. It can only
// be added to.
type Sink interface {
	// Append writes a record behind all others; the sink gives it its place in the chain.
	// After an error the record may have been written or not. Appending the same record
	// again right after that writes it once.
	Append(ctx context.Context, record protocol.AuditRecord) error
}

// Reader gives records back.
type Reader interface {
	// Page returns records that match, newest first. A cursor that is none is a
	// *protocol.Error with INVALID_REQUEST; other errors mean that the sink cannot be read.
	Page(ctx context.Context, query Query) (protocol.AuditResponse, error)
}

// Query is which records are asked for. Empty fields are no condition.
type Query struct {
	StreamPrefix, ConsumerGroup, Principal string
	// From and To bound the records' time, both included.
	From, To time.Time
	// Cursor is Next of the page before.
	Cursor string
	// Limit is 1 … protocol.MaxAudit.
	Limit int
	// Reaches tells which streams the one who asks may see, "" for what is about no single
	// one. Nil is all of them.
	Reaches func(stream string) bool
}

// whole tells that nothing is left out.
func (q Query) whole() bool {
	return q.StreamPrefix == "" && q.ConsumerGroup == "" && q.Principal == "" &&
		q.From.IsZero() && q.To.IsZero() && q.Reaches == nil
}

func (q Query) matches(record protocol.AuditRecord) bool {
	switch {
	case q.StreamPrefix != "" && record.StreamPrefix != q.StreamPrefix,
		q.ConsumerGroup != "" && record.ConsumerGroup != q.ConsumerGroup,
		q.Principal != "" && record.Principal != q.Principal:
		return false
	case !q.From.IsZero() && record.Time.Before(q.From), !q.To.IsZero() && record.Time.After(q.To):
		return false
	default:
		return q.Reaches == nil || q.Reaches(record.StreamPrefix)
	}
}
