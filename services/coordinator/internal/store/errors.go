package store

import (
	"errors"
	"fmt"
)

// The closed set of errors. Callers act on them with errors.Is.
var (
	// ErrNotFound comes when there is no record under the key.
	ErrNotFound = errors.New("record not found")
	// ErrExists comes when Create finds a record.
	ErrExists = errors.New("record exists")
	// ErrConflict comes when a guard does not hold; nothing was written. Load again.
	ErrConflict = errors.New("record has changed")
	// ErrBusy comes when another holder has the multi-step lease.
	ErrBusy = errors.New("lease is held")
	// ErrCorrupt comes when a record's guard fields cannot be read; see CorruptError.
	ErrCorrupt = errors.New("record is corrupt")
	// ErrUnsupportedSchema comes when a record was written by a newer binary.
	ErrUnsupportedSchema = errors.New("record has an unsupported schema")
	// ErrInvalid comes when the request itself breaks the contract: a bad name (it then
	// wraps protocol.ErrInvalidName too) or a missing token. Nothing was sent.
	ErrInvalid = errors.New("request is invalid")
	// ErrUnavailable comes when the store did not answer, or answered that it cannot
	// work now; see UnavailableError. A write may or may not have happened.
	ErrUnavailable = errors.New("store unavailable")
)

// CorruptError names what of a record cannot be read. It is ErrCorrupt.
type CorruptError struct {
	Key   Key
	Field string
	Cause error
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("record of stream %q group %q: field %s is corrupt: %v", e.Key.Stream, e.Key.Group, e.Field, e.Cause)
}

// Is makes a CorruptError an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }

// UnavailableError says why the store cannot work now. It is ErrUnavailable.
type UnavailableError struct {
	// State is a word for it: UNREACHABLE, TIMEOUT, READONLY, LOADING, MASTERDOWN,
	// CLUSTERDOWN, TRYAGAIN, MOVED, ASK, BUSY, OOM, MISCONF, NOPERM, NOREPLICAS or OTHER.
	// PostgreSQL has SHUTDOWN, CONNECTIONS, DISK, CONFLICT and NOSCHEMA beside those that mean
	// the same for both.
	State string
	// Written tells that the request may have had its effect.
	Written bool
	Cause   error
}

// Error implements error.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("store unavailable (%s): %v", e.State, e.Cause)
}

// Is makes an UnavailableError an ErrUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Cause }
