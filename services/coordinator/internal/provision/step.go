package provision

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Progress is how far a run has come (protocol L10).
type Progress struct {
	// Done of Total shard keys are as planned.
	Done, Total int
	// Err is what stopped the run, nil while it goes on.
	Err error
}

// StepError is the first shard key of a plan on which Redis refused or failed. Keys
// planned after it may be done already, those of later pipelines are not begun.
type StepError struct {
	// Key is the shard key.
	Key string
	// Group is the consumer group that was being made or destroyed on it.
	Group string
	// Done of Total keys are as planned.
	Done, Total int
	// Err is the cause as Redis or the connection gave it.
	Err error
}

// State names the cause.
func (e *StepError) State() redisx.State { return redisx.StateOf(e.Err) }

// Error names key, group, cause and how much is done.
func (e *StepError) Error() string {
	return fmt.Sprintf("group %q on shard key %q: %s (%d of %d keys are done)", e.Group, e.Key, e.cause(), e.Done, e.Total)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

func (e *StepError) cause() string {
	if e.State() == redisx.StateWrongType {
		return fmt.Sprintf("the key is there but is no stream: %v", e.Err)
	}
	return e.Err.Error()
}
