package provision

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Progress is how far a call has come (protocol L10).
type Progress struct {
	// Done of Total shards are as they should be.
	Done, Total int
	// Err is what stopped the call, nil while it goes on.
	Err error
}

// StepError is the first shard of a call on which Redis refused or failed, or a phase was
// over. Shards after it may be done already, those of later pipelines are not begun.
type StepError struct {
	// Key is the shard's.
	Key string
	// Done of Total shards are as they should be.
	Done, Total int
	// Err is the cause: ErrStale, or what Redis or the connection gave.
	Err error
}

// State names the cause.
func (e *StepError) State() redisx.State { return redisx.StateOf(e.Err) }

// Error names key, cause and how much is done.
func (e *StepError) Error() string {
	return fmt.Sprintf("shard key %q: %s (%d of %d keys are done)", e.Key, e.cause(), e.Done, e.Total)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

func (e *StepError) cause() string {
	state := e.State()
	if state == redisx.StateWrongType {
		return fmt.Sprintf("the key is there but is no stream: %v", e.Err)
	}
	if state == redisx.StateNoPerm {
		return fmt.Sprintf("the access control list of Redis refuses the coordinator's user a command or this key (NOPERM); allow it, see docs/redis-acl.md: %v", e.Err)
	}
	return e.Err.Error()
}
