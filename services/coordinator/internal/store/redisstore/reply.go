package redisstore

import (
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The first entry of a script's answer.
const (
	wordOK       = "ok"
	wordKnown    = "known"
	wordMissing  = "missing"
	wordExists   = "exists"
	wordDiffers  = "differs"
	wordConflict = "conflict"
	wordCorrupt  = "corrupt"
	wordBusy     = "busy"
)

// errReply comes when an answer does not have the form that the script gives it.
var errReply = errors.New("unexpected answer of a script")

// reply is a script's answer: its first entry, and the others.
type reply struct {
	word string
	rest []any
}

func newReply(answer any) (reply, error) {
	list, isList := answer.([]any)
	if !isList || len(list) == 0 {
		return reply{}, &callError{cause: fmt.Errorf("%w: %T", errReply, answer), written: true}
	}
	word, isText := list[0].(string)
	if !isText {
		return reply{}, &callError{cause: fmt.Errorf("%w: begins with %T", errReply, list[0]), written: true}
	}
	return reply{word: word, rest: list[1:]}, nil
}

// millis returns entry i as a time.
func (r reply) millis(i int) (store.Millis, bool) {
	if i >= len(r.rest) {
		return 0, false
	}
	number, ok := r.rest[i].(int64)
	return store.Millis(number), ok
}

// text returns entry i as text, and false when it is absent or nil.
func (r reply) text(i int) (string, bool) {
	if i >= len(r.rest) {
		return "", false
	}
	text, ok := r.rest[i].(string)
	return text, ok
}

func (r reply) unexpected() error {
	return &store.UnavailableError{State: "OTHER", Written: true, Cause: fmt.Errorf("%w: %q and %d entries", errReply, r.word, len(r.rest))}
}

// refusal turns every answer but ok into an error of the contract.
func (r reply) refusal(key store.Key) error {
	switch r.word {
	case wordMissing:
		return fmt.Errorf("%w: %q", store.ErrNotFound, key)
	case wordExists:
		return fmt.Errorf("%w: %q", store.ErrExists, key)
	case wordBusy:
		return fmt.Errorf("%w: %q", store.ErrBusy, key)
	case wordConflict:
		what, _ := r.text(0)
		return fmt.Errorf("%w: %q: %s", store.ErrConflict, key, what)
	case wordCorrupt:
		field, _ := r.text(0)
		return &store.CorruptError{Key: key, Field: field, Cause: errUnreadable}
	case wordDiffers:
		return r.difference(key)
	default:
		return r.unexpected()
	}
}

// difference tells a version that has changed from one that cannot be read.
func (r reply) difference(key store.Key) error {
	var guard guard
	for i, field := range []string{fieldRevision, fieldToken, fieldSchema} {
		text, present := r.text(i)
		if flaw := guard.read(field, text, present); flaw != nil {
			return flaw.of(key)
		}
	}
	return fmt.Errorf("%w: %q is at revision %d", store.ErrConflict, key, guard.version.Revision)
}

// times reads clock and, for each beat, deadline and whether it was applied.
func (r reply) times(beats int) (clock store.Millis, deadlines []store.Millis, applied []bool, err error) {
	clock, ok := r.millis(0)
	if !ok || len(r.rest) != 1+2*beats {
		return 0, nil, nil, r.unexpected()
	}
	deadlines, applied = make([]store.Millis, beats), make([]bool, beats)
	for i := range beats {
		deadline, ok := r.millis(1 + 2*i)
		was, too := r.millis(2 + 2*i)
		if !ok || !too {
			return 0, nil, nil, r.unexpected()
		}
		deadlines[i], applied[i] = deadline, was == 1
	}
	return clock, deadlines, applied, nil
}
