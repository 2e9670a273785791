package audit

import (
	"errors"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// maxConflicts bounds how often a record meets another gateway's that came first. Each time
// one of them gets on, so it is not reached by gateways that only write a lot.
const maxConflicts = 1000

// errConflicts comes when other gateways were first maxConflicts times.
var errConflicts = errors.New("other gateways append all the time")

// tail is the end of a chain that several gateways share, as this one saw it last.
type tail struct {
	mu   sync.Mutex
	head protocol.AuditHead
}

func newTail(chain string) *tail { return &tail{head: protocol.AuditHead{Chain: chain}} }

// put writes a line behind the head before, with next as the new head, or nothing if there is
// another head by now. It tells whether the line is there, and sequence and hash of the head
// that there is then.
type put func(before, next protocol.AuditHead, line []byte) (written bool, sequence int64, hash string, err error)

// append gives a record its place, has it put there, and returns the line that was written.
// After an error the head stays, so that the same record has the same line again and is known
// by it.
func (t *tail) append(record protocol.AuditRecord, put put) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range maxConflicts {
		chained, next, err := audit.Chain(t.head, record)
		if err != nil {
			return nil, err
		}
		line, err := audit.Encode(chained)
		if err != nil {
			return nil, err
		}
		written, sequence, hash, err := put(t.head, next, line)
		if err != nil {
			return nil, err
		}
		t.head.Sequence, t.head.Hash = sequence, hash
		if written {
			return line, nil
		}
	}
	return nil, errConflicts
}
