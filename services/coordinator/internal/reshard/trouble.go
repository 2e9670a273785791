package reshard

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// longestPause bounds the time to the next try after tries that failed.
const longestPause = 10 * time.Second

// trouble is why a stream was not taken further.
type trouble struct {
	err   error
	tries int
	until time.Time // no try before
}

// note remembers what stopped the look at a stream, or that nothing did. Tries that fail
// come less and less often.
func (d *Driver) note(prefix string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, troubled := d.troubles[prefix]
	switch fault, _ := errors.AsType[*protocol.Error](err); {
	case err == nil:
		if troubled {
			d.log.Info("stream is taken further again", "stream", prefix)
			delete(d.troubles, prefix)
		}
		return
	case d.ctx.Err() != nil:
		return
	case fault != nil && (fault.Code == protocol.CodeStateMutexUnavailable || fault.Code == protocol.CodeStateVersionConflict):
		return // another coordinator, or an operator, was faster
	}
	next := trouble{err: err, tries: before.tries + 1}
	next.until = clock.Now().Add(min(d.cfg.Interval<<min(before.tries, 8), longestPause))
	d.troubles[prefix] = next
	if !troubled || before.err.Error() != err.Error() {
		d.log.Warn("stream is not taken further now, trying again", "stream", prefix, "error", err)
	}
}

// Problems says which streams are not taken further and why, one sentence each, sorted.
func (d *Driver) Problems() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	problems := make([]string, 0, len(d.troubles))
	for prefix, t := range d.troubles {
		problems = append(problems, fmt.Sprintf("stream %q is not taken further: %v", prefix, t.err))
	}
	slices.Sort(problems)
	return problems
}
