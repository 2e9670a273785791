package redisstore

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

var (
	errUnreadable = errors.New("its form is not the stored one")
	errMissing    = errors.New("it is missing")
	errEmpty      = errors.New("it is empty")
)

// guard are the fields that decide about a record without its aggregate.
type guard struct {
	version store.Version
	schema  int
}

// flaw is a field that cannot be read, with what it holds.
type flaw struct {
	field   string // fieldKey when the key is no hash
	text    string
	present bool
	cause   error
}

// of returns the flaw as an error about the record of key.
func (f *flaw) of(key store.Key) error {
	if errors.Is(f.cause, store.ErrUnsupportedSchema) {
		return fmt.Errorf("%q: %s %s: %w", key, f.field, protocol.Echo(f.text), f.cause)
	}
	return &store.CorruptError{Key: key, Field: f.field, Cause: f.cause}
}

// read reads one guard field.
func (g *guard) read(field, text string, present bool) *flaw {
	bad := func(cause error) *flaw { return &flaw{field: field, text: text, present: present, cause: cause} }
	if !present {
		return bad(errMissing)
	}
	if field == fieldToken {
		if text == "" {
			return bad(errEmpty)
		}
		g.version.Token = text
		return nil
	}
	number, err := readNumber(text)
	if err != nil {
		return bad(err)
	}
	switch {
	case field == fieldRevision && number >= 1:
		g.version.Revision = number
	case field == fieldSchema && number >= 0 && number <= 1<<31-1:
		g.schema = int(number)
	default:
		return bad(errNotNumber)
	}
	return nil
}

// stored is a record's hash as far as it was read.
type stored struct {
	guard

	aggregate []byte
	whole     bool // the aggregate was transferred
	servedAt  store.Millis
	liveness  map[string]store.Liveness
}

// readStored reads the fields and values of a hash. Fields that this layout does not
// know are left alone; a newer layout is not read at all.
func readStored(pairs []any, whole bool) (stored, *flaw) {
	found := stored{whole: whole, liveness: make(map[string]store.Liveness)}
	own, members := make(map[string]string, 8), make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		field, isName := pairs[i].(string)
		text, isText := pairs[i+1].(string)
		switch {
		case !isName || !isText:
		case strings.HasPrefix(field, fieldLiveness), strings.HasPrefix(field, fieldSuccessor):
			members[field] = text
		default:
			own[field] = text
		}
	}
	if flaw := found.readOwn(own); flaw != nil {
		return found, flaw
	}
	for field, text := range members {
		if err := found.readMember(field, text); err != nil {
			return found, &flaw{field: field, text: text, present: true, cause: err}
		}
	}
	return found, nil
}

// readOwn reads the fields that are not about one member.
func (s *stored) readOwn(fields map[string]string) *flaw {
	var layout int64
	if flaw := readField(fields, fieldLayout, &layout); flaw != nil {
		return flaw
	}
	if layout > layoutVersion {
		return &flaw{field: fieldLayout, text: fields[fieldLayout], present: true, cause: store.ErrUnsupportedSchema}
	}
	for _, field := range []string{fieldRevision, fieldToken, fieldSchema} {
		text, present := fields[field]
		if flaw := s.read(field, text, present); flaw != nil {
			return flaw
		}
	}
	if flaw := readField(fields, fieldServedAt, (*int64)(&s.servedAt)); flaw != nil {
		return flaw
	}
	if !s.whole {
		return nil
	}
	aggregate, present := fields[fieldAggregate]
	if !present {
		return &flaw{field: fieldAggregate, cause: errMissing}
	}
	s.aggregate = []byte(aggregate)
	return nil
}

// readField reads a number that is not negative.
func readField(fields map[string]string, field string, into *int64) *flaw {
	text, present := fields[field]
	number, err := readNumber(text)
	switch {
	case !present:
		return &flaw{field: field, cause: errMissing}
	case err != nil || number < 0:
		return &flaw{field: field, text: text, present: true, cause: errNotNumber}
	}
	*into = number
	return nil
}

// readMember reads a field about one member.
func (s *stored) readMember(field, text string) error {
	member := field[len(fieldLiveness):]
	if err := protocol.CheckMemberID(member); err != nil {
		return fmt.Errorf("stored member id: %w", err)
	}
	state := s.liveness[member]
	read := readLiveness
	if strings.HasPrefix(field, fieldSuccessor) {
		read = readSuccessor
	}
	if err := read(text, &state); err != nil {
		return err
	}
	s.liveness[member] = state
	return nil
}
