package redisstore

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The names of fields in a record's hash.
const (
	fieldRevision  = "revision"
	fieldToken     = "token"
	fieldSchema    = "schemaVersion"
	fieldLayout    = "layoutVersion"
	fieldAggregate = "aggregate"
	fieldServedAt  = "servedAt"
	fieldLiveness  = "l:" // + member id
	fieldSuccessor = "s:" // + member id
	// fieldKey stands for the key itself when it holds something else than a hash.
	fieldKey = "key"
)

var (
	errNotNumber  = errors.New("not a whole number in plain form")
	errFewParts   = errors.New("too few parts")
	errNotEscaped = errors.New("text is not in its escaped form")
)

// told writes the part of a liveness field that the member determines:
//
//	sequence syncVersion incarnation requestId detail
//
// separated by single spaces. Incarnation and request id are escaped so that they hold
// no space; detail is the rest as it is. The script puts deadline and time in front.
func told(beat *store.Beat) string {
	var text strings.Builder
	text.Grow(48 + len(beat.Incarnation) + len(beat.RequestID) + len(beat.Detail))
	text.WriteString(strconv.FormatInt(max(beat.Sequence, 0), 10))
	text.WriteByte(' ')
	text.WriteString(strconv.FormatInt(beat.SyncVersion, 10))
	text.WriteByte(' ')
	text.WriteString(escape(beat.Incarnation))
	text.WriteByte(' ')
	text.WriteString(escape(beat.RequestID))
	text.WriteByte(' ')
	text.Write(beat.Detail)
	return text.String()
}

// readLiveness reads a stored liveness field into state, whose successor it leaves.
func readLiveness(text string, state *store.Liveness) error {
	var parts [6]string
	for i := range parts {
		part, rest, more := strings.Cut(text, " ")
		if !more {
			return errFewParts
		}
		parts[i], text = part, rest
	}
	numbers := [...]*int64{(*int64)(&state.Deadline), (*int64)(&state.HeardAt), &state.Sequence, &state.SyncVersion}
	for i, into := range numbers {
		number, err := readNumber(parts[i])
		if err != nil {
			return err
		}
		if number < 0 && into != &state.SyncVersion {
			return errNotNumber
		}
		*into = number
	}
	var err error
	if state.Incarnation, err = unescape(parts[4]); err != nil {
		return err
	}
	if state.RequestID, err = unescape(parts[5]); err != nil {
		return err
	}
	state.Detail = []byte(text)
	return nil
}

// readSuccessor reads a stored successor field, "time incarnation", into state.
func readSuccessor(text string, state *store.Liveness) error {
	at, incarnation, more := strings.Cut(text, " ")
	if !more {
		return errFewParts
	}
	number, err := readNumber(at)
	if err != nil || number < 0 {
		return errNotNumber
	}
	state.SuccessorAt = store.Millis(number)
	state.Successor, err = unescape(incarnation)
	return err
}

// readNumber accepts only the form in which numbers are written: scripts compare them
// as text.
func readNumber(text string) (int64, error) {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strconv.FormatInt(number, 10) != text {
		return 0, errNotNumber
	}
	return number, nil
}

// escape writes text without spaces and control characters.
func escape(text string) string { return url.PathEscape(text) }

func unescape(text string) (string, error) {
	plain, err := url.PathUnescape(text)
	if err != nil || escape(plain) != text {
		return "", errNotEscaped
	}
	return plain, nil
}
