package audit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const copiesBegin = "copies/"

// cursor is where a page of a Redis sink begins: behind an entry of the global stream,
// written as its id, or of a group's or stream's own, as copies/{behind}/{id}. The id is
// empty for the newest entry.
type cursor struct {
	id string
	// copies is the own stream, of which only records older than the number behind are to be
	// told; the others were in the global stream.
	copies bool
	behind int64
}

func parseCursor(text string) (cursor, error) {
	refused := protocol.Errorf(protocol.CodeInvalidRequest, "cursor %q is not next of another page", protocol.Echo(text))
	rest, copies := strings.CutPrefix(text, copiesBegin)
	if !copies {
		if text != "" && !isEntryID(text) {
			return cursor{}, refused
		}
		return cursor{id: text}, nil
	}
	number, id, _ := strings.Cut(rest, "/")
	behind, err := strconv.ParseInt(number, 10, 64)
	if err != nil || id != "" && !isEntryID(id) {
		return cursor{}, refused
	}
	return cursor{id: id, copies: true, behind: behind}, nil
}

// String writes a cursor as parseCursor reads it.
func (c cursor) String() string {
	if c.copies {
		return fmt.Sprintf("%s%d/%s", copiesBegin, c.behind, c.id)
	}
	return c.id
}

// newest returns the end of the range that is to be read.
func (c cursor) newest() string {
	if c.id == "" {
		return "+"
	}
	return "(" + c.id
}

// reaches tells whether a record was not in the global stream already.
func (c cursor) reaches(record protocol.AuditRecord) bool {
	return !c.copies || record.Sequence < c.behind
}

func isEntryID(text string) bool {
	ms, sequence, found := strings.Cut(text, "-")
	return found && isNumber(ms) && isNumber(sequence)
}

func isNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil && text[0] != '+'
}
