package pgstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The words that functions answer with.
const (
	wordOK       = "ok"
	wordMissing  = "missing"
	wordExists   = "exists"
	wordDiffers  = "differs"
	wordConflict = "conflict"
	wordCorrupt  = "corrupt"
)

var (
	// errWord comes when a function answers with a word that this binary does not know.
	errWord = errors.New("unexpected answer of a function")
	// errForm is the cause of a guard field that has no value that was ever written.
	errForm = errors.New("its value is none that is ever written")
)

// fault turns an error of call into one of the contract. A missing record is never concluded
// from an error (field case F22).
func fault(failed *callError) error {
	state := postgres.StateOf(failed)
	if state == postgres.StateOther && errors.Is(failed, context.Canceled) {
		state = postgres.StateTimeout
	}
	return &store.UnavailableError{
		State: string(state), Written: failed.written, Cause: fmt.Errorf("postgres: %w", failed),
	}
}

// refusal turns every word but ok into an error of the contract; what says more about it.
func refusal(key store.Key, word string, what *string) error {
	said := ""
	if what != nil {
		said = *what
	}
	switch word {
	case wordOK:
		return nil
	case wordMissing:
		return fmt.Errorf("%w: %q", store.ErrNotFound, key)
	case wordExists:
		return fmt.Errorf("%w: %q", store.ErrExists, key)
	case wordDiffers:
		return fmt.Errorf("%w: %q is at revision %s", store.ErrConflict, key, said)
	case wordConflict:
		return fmt.Errorf("%w: %q: %s", store.ErrConflict, key, said)
	case wordCorrupt:
		return &store.CorruptError{Key: key, Field: said, Cause: errForm}
	default:
		return &store.UnavailableError{State: string(postgres.StateOther), Written: true, Cause: fmt.Errorf("%w: %q", errWord, word)}
	}
}
