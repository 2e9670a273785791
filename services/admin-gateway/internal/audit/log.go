package audit

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Log is a sink of lines, one JSON object each (audit.Line). Its chain is that of one run of
// the gateway. It keeps nothing that it could read, so whoever gathers the lines verifies
// them, with rscctl audit verify --file.
type Log struct {
	mu   sync.Mutex
	w    io.Writer
	head protocol.AuditHead
	torn bool // the last line may be there in part
}

// NewLog returns a sink that writes to w, which others may write lines to as well if each
// is one Write. gatewayID becomes a part of the chain's name.
func NewLog(w io.Writer, gatewayID string) *Log {
	return &Log{w: w, head: protocol.AuditHead{Chain: gatewayID + "/" + ulid.Make().String()}}
}

// Append implements Sink. The context is not looked at: a Write cannot be ended.
func (l *Log) Append(_ context.Context, record protocol.AuditRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	chained, head, err := audit.Chain(l.head, record)
	if err != nil {
		return fmt.Errorf("chain audit record: %w", err)
	}
	text, err := audit.Line(chained)
	if err != nil {
		return fmt.Errorf("write audit record: %w", err)
	}
	if l.torn {
		text = append([]byte("\n"), text...) // a part of a line ends here and is none of JSON
	}
	written, err := l.w.Write(text)
	if written >= len(text)-1 { // whole, perhaps without its line break
		l.head, l.torn = head, written < len(text)
		return nil
	}
	l.torn = l.torn || written > 0
	if err == nil {
		err = io.ErrShortWrite
	}
	return fmt.Errorf("write audit record: %w", err)
}
