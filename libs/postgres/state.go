package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// State names what an error of PostgreSQL stands for, so that callers decide by name and
// never by text. It is printable.
type State string

// The states. A comment ends in "transient" where the same statement may work later without
// anybody changing anything.
const (
	// StateOK is no error. pgx.ErrNoRows counts as one of these: it is an answer.
	StateOK State = "OK"
	// StateUnreachable is a connection refused, lost or not found; a statement that was
	// under way may have run; transient.
	StateUnreachable State = "UNREACHABLE"
	// StateTimeout is an answer or a free connection that did not come in time; the
	// statement may have run; transient.
	StateTimeout State = "TIMEOUT"
	// StateReadOnly is a standby, or a server that an operator has set to read only;
	// transient.
	StateReadOnly State = "READONLY"
	// StateLoading is a server that starts or recovers; transient.
	StateLoading State = "LOADING"
	// StateShutdown is a server that ends, or has ended this session; transient.
	StateShutdown State = "SHUTDOWN"
	// StateConnections is a server with too many sessions; transient.
	StateConnections State = "CONNECTIONS"
	// StateDisk is a full disk or a failed write; transient.
	StateDisk State = "DISK"
	// StateOOM is a server out of memory or locks; transient.
	StateOOM State = "OOM"
	// StateConflict is a statement that was undone because of another one: serialization or
	// deadlock; transient.
	StateConflict State = "CONFLICT"
	// StateNoPerm is a login or an object refused: a configuration error.
	StateNoPerm State = "NOPERM"
	// StateNoSchema is a missing database, table or function: a schema that was not migrated,
	// or has been dropped.
	StateNoSchema State = "NOSCHEMA"
	// StateOther is everything else, a cancelled context and a closed pool included.
	StateOther State = "OTHER"
)

// Transient reports whether the same statement may work later by itself.
func (s State) Transient() bool {
	switch s {
	case StateUnreachable, StateTimeout, StateReadOnly, StateLoading, StateShutdown, StateConnections,
		StateDisk, StateOOM, StateConflict:
		return true
	case StateOK, StateNoPerm, StateNoSchema, StateOther:
		return false
	}
	return false
}

// StateOf returns the state that err stands for, looking through wrapping.
func StateOf(err error) State {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return StateOK
	}
	if reply, ok := errors.AsType[*pgconn.PgError](err); ok {
		return stateOfCode(reply.Code)
	}
	return stateOfNetwork(err)
}

// Undone reports whether the statement behind err has certainly had no effect: it was not
// sent, or the server says itself that it was undone. Everything else may have been committed.
func Undone(err error) bool {
	if err == nil {
		return false
	}
	var dial *pgconn.ConnectError
	if errors.As(err, &dial) || pgconn.SafeToRetry(err) {
		return true
	}
	reply, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	// A session that is ended while it waits for a standby has committed already, and
	// 40003 and class 08 say that nobody knows.
	return stateOfCode(reply.Code) != StateShutdown && reply.Code != "40003" && !strings.HasPrefix(reply.Code, "08")
}

// stateOfCode goes by the SQLSTATE.
func stateOfCode(code string) State {
	switch code {
	case "25006":
		return StateReadOnly
	case "57P03":
		return StateLoading
	case "57P01", "57P02", "57P04", "57P05":
		return StateShutdown
	case "53300":
		return StateConnections
	case "53100", "58030":
		return StateDisk
	case "53200":
		return StateOOM
	case "40001", "40P01":
		return StateConflict
	case "57014", "55P03":
		return StateTimeout
	case "42501":
		return StateNoPerm
	case "42P01", "42883", "42703", "3F000", "3D000":
		return StateNoSchema
	}
	switch {
	case strings.HasPrefix(code, "28"):
		return StateNoPerm
	case strings.HasPrefix(code, "08"):
		return StateUnreachable
	}
	return StateOther
}

func stateOfNetwork(err error) State {
	if errors.Is(err, context.Canceled) {
		return StateOther
	}
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), pgconn.Timeout(err),
		errors.As(err, &slow) && slow.Timeout():
		return StateTimeout
	}
	var dial *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &dial), errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), errors.Is(err, pgconn.ErrConnClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNREFUSED):
		return StateUnreachable
	}
	return StateOther
}
