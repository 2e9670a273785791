package redisx

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// State names what an error of Redis stands for, so that callers decide by name
// and never by text. It is printable.
type State string

// The states. A comment ends in "transient" where the same command may work later
// without anybody changing anything.
const (
	// StateOK is no error. redis.Nil counts as one of these: it is an answer.
	StateOK State = "OK"
	// StateReadOnly is a write that reached a replica, as after a failover; transient.
	StateReadOnly State = "READONLY"
	// StateLoading is a server that still reads its data; a missing key means
	// nothing meanwhile (field case F22); transient.
	StateLoading State = "LOADING"
	// StateMasterDown is a replica cut off from its primary; transient.
	StateMasterDown State = "MASTERDOWN"
	// StateClusterDown is a cluster that does not serve the slot; transient.
	StateClusterDown State = "CLUSTERDOWN"
	// StateTryAgain is a slot on the move with keys on both sides; transient.
	StateTryAgain State = "TRYAGAIN"
	// StateMoved is a slot that lives on another node; transient.
	StateMoved State = "MOVED"
	// StateAsk is a key that is already on the slot's next node; transient.
	StateAsk State = "ASK"
	// StateBusy is a server occupied by a script; transient.
	StateBusy State = "BUSY"
	// StateOOM is a write refused by the memory limit; transient.
	StateOOM State = "OOM"
	// StateDisk is a write refused because Redis cannot save its data; transient.
	StateDisk State = "MISCONF"
	// StateNoReplicas is a write refused for want of connected replicas; transient.
	StateNoReplicas State = "NOREPLICAS"
	// StateNoPerm is a command, key or login refused: a configuration error.
	StateNoPerm State = "NOPERM"
	// StateNoScript is an unknown script digest; EVAL loads it.
	StateNoScript State = "NOSCRIPT"
	// StateNoGroup is a missing consumer group or stream.
	StateNoGroup State = "NOGROUP"
	// StateBusyGroup is a consumer group that exists already.
	StateBusyGroup State = "BUSYGROUP"
	// StateUnblocked is a blocked read whose stream went away (field case F15).
	StateUnblocked State = "UNBLOCKED"
	// StateWrongType is a key that holds something else than the command wants.
	StateWrongType State = "WRONGTYPE"
	// StateTimeout is a reply, a free connection or a context's deadline that did
	// not come in time; the command may have run; transient.
	StateTimeout State = "TIMEOUT"
	// StateUnreachable is a connection refused, lost or not found; a command that
	// was under way may have run; transient.
	StateUnreachable State = "UNREACHABLE"
	// StateOther is everything else, a cancelled context and a closed client included.
	StateOther State = "OTHER"
)

// Transient reports whether the same command may work later by itself. Callers
// wait with backoff and jitter and read nothing into a missing key (field case F22).
func (s State) Transient() bool {
	switch s {
	case StateReadOnly, StateLoading, StateMasterDown, StateClusterDown, StateTryAgain, StateMoved, StateAsk,
		StateBusy, StateOOM, StateDisk, StateNoReplicas, StateTimeout, StateUnreachable:
		return true
	case StateOK, StateNoPerm, StateNoScript, StateNoGroup, StateBusyGroup, StateUnblocked, StateWrongType, StateOther:
		return false
	}
	return false
}

// StateOf returns the state that err stands for, looking through wrapping.
func StateOf(err error) State {
	if err == nil || errors.Is(err, redis.Nil) {
		return StateOK
	}
	if reply, ok := errors.AsType[redis.Error](err); ok {
		return stateOfReply(reply.Error())
	}
	return stateOfNetwork(err)
}

// stateOfReply goes by the first word of an error reply, which is its code.
func stateOfReply(text string) State {
	code, _, _ := strings.Cut(text, " ")
	switch code {
	case "NOAUTH", "WRONGPASS":
		return StateNoPerm
	case "ERR":
		return stateOfPlain(text)
	}
	named := [...]State{
		StateReadOnly, StateLoading, StateMasterDown, StateClusterDown, StateTryAgain, StateMoved, StateAsk,
		StateBusy, StateOOM, StateDisk, StateNoReplicas, StateNoPerm, StateNoScript, StateNoGroup,
		StateBusyGroup, StateUnblocked, StateWrongType,
	}
	if slices.Contains(named[:], State(code)) {
		return State(code)
	}
	return StateOther
}

// stateOfPlain reads replies under the general code: a full server, and the error
// of a command inside a script as Redis before 7 and some proxies report it, in
// "ERR Error running script (call to f_…): @user_script:1: -OOM command not …".
func stateOfPlain(text string) State {
	switch {
	case strings.HasPrefix(text, "ERR max number of clients"):
		return StateUnreachable
	case strings.HasPrefix(text, "ERR The user executing the script"), strings.HasPrefix(text, "ERR ACL failure in script"):
		return StateNoPerm // from a command inside a script, by Redis before 7.2; later ones say NOPERM
	}
	if !strings.HasPrefix(text, "ERR Error running script") {
		return StateOther
	}
	_, inner, _ := strings.Cut(text, ": ")
	for inner != "" {
		if state := stateOfReply(strings.TrimPrefix(inner, "-")); state != StateOther {
			return state
		}
		_, inner, _ = strings.Cut(inner, ": ")
	}
	return StateOther
}

func stateOfNetwork(err error) State {
	if errors.Is(err, redis.ErrClosed) || errors.Is(err, context.Canceled) {
		return StateOther
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return StateUnreachable
	}
	var slow interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, redis.ErrPoolTimeout), errors.Is(err, redis.ErrPoolExhausted),
		errors.As(err, &slow) && slow.Timeout():
		return StateTimeout
	}
	var network net.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNREFUSED),
		errors.As(err, &network), noNode(err.Error()):
		return StateUnreachable
	}
	return StateOther
}

// noNode recognises two errors that go-redis does not export.
func noNode(text string) bool {
	return strings.Contains(text, "redis: all sentinels specified in configuration are unreachable") ||
		strings.Contains(text, "redis: cluster has no nodes")
}
