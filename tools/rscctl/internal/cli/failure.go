package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// The exit codes.
const (
	exitFailed     = 1
	exitUsage      = 2
	exitRolledBack = 3
	// exitChanges is that of a plan with changes, where --detailed-exitcode asks for it.
	exitChanges = 4
)

// place is what a command is about; empty parts are not known.
type place struct {
	stream, group, member, id string
	// changes tells that the command changes something.
	changes bool
	// login tells that the command is a login.
	login bool
	// monitor tells that the monitor has to answer, through the gateway.
	monitor bool
	// pruned tells that a file deletes it.
	pruned bool
}

// usageError is a command line that the caller has to correct.
type usageError struct{ message string }

func (e usageError) Error() string { return e.message }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// failedError is a command that was understood and did not succeed.
type failedError struct {
	doing string // as in: cannot <doing>
	at    place
	err   error
}

func (e *failedError) Error() string { return "cannot " + e.doing + ": " + e.err.Error() }

func (e *failedError) Unwrap() error { return e.err }

// endedError is a plain end with words of its own; code is the exit code.
type endedError struct {
	code    int
	message string
}

func (e endedError) Error() string { return e.message }

func ended(code int, format string, args ...any) error {
	return endedError{code, fmt.Sprintf(format, args...)}
}

// end tells what became of the command and returns the exit code.
func (s *session) end(err error) int {
	if err == nil {
		return 0
	}
	notes := s.notes()
	if words, ok := errors.AsType[endedError](err); ok {
		if words.message != "" {
			notes.Line("rscctl: %s", words.message)
		}
		return words.code
	}
	if wrong, ok := wrongFile(err); ok {
		return s.explainFile(wrong)
	}
	if failed, ok := errors.AsType[*failedError](err); ok && !errors.Is(err, protocol.ErrInvalidName) {
		s.explain(notes, failed)
		return exitFailed
	}
	notes.Line("rscctl: %v", err)
	// What fails before a command is understood is the command line.
	if errors.As(err, new(usageError)) || errors.Is(err, protocol.ErrInvalidName) || !s.understood {
		notes.Line("  next: see rscctl --help, or --help behind the command")
		return exitUsage
	}
	return exitFailed
}

// explain prints the thing, the cause and the next step.
func (s *session) explain(notes *show.Page, failed *failedError) {
	refused, ok := errors.AsType[*protocol.Error](failed.err)
	if !ok {
		notes.Line("rscctl: cannot %s: %s", failed.doing, s.cause(failed.err))
		notes.Line("  next: %s", s.withoutAnswer(failed))
		return
	}
	notes.Line("rscctl: cannot %s: %s", failed.doing, orElse(refused.Message, "refused"))
	notes.Line("  code: %s", refused.Code)
	if refused.RequestID != "" {
		notes.Line("  request id: %s", refused.RequestID)
	}
	pause, asked := client.RetryAfter(failed.err)
	if asked {
		notes.Line("  try again in: %s", pause.Round(time.Second))
	}
	next := s.access(refused.Code, failed.at, pause)
	notes.Line("  next: %s", orElse(next, nextStep(refused.Code, failed.at)))
}

// cause is what went wrong, without what the caller knows already.
func (s *session) cause(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Error()
	}
	transport, ok := errors.AsType[*url.Error](err)
	switch {
	case ok && transport.Timeout():
		return "no answer in time from " + s.coordinator
	case ok:
		return fmt.Sprintf("no coordinator answers at %s: %v", s.coordinator, transport.Err)
	default:
		return err.Error()
	}
}

// withoutAnswer is the next step when nobody said what is wrong.
func (s *session) withoutAnswer(failed *failedError) string {
	unsure := "the change may have been made or not, so look before you repeat it"
	if s.key != "" {
		unsure += "; a gateway makes it once however often you ask it with --idempotency-key " + s.key
	}
	const check = "check that a coordinator runs there, or name another one with --coordinator or $RSC_COORDINATOR"
	interrupted := errors.Is(failed.err, context.Canceled)
	if known := s.access(codeOf(failed.err), failed.at, 0); known != "" {
		return known
	}
	switch {
	case failed.at.changes && interrupted:
		return unsure
	case interrupted:
		return "nothing was changed"
	case failed.at.changes:
		return check + "; " + unsure
	default:
		return check
	}
}
