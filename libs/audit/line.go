package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	lineBegin = `{"msg":"audit","audit":`
	lineEnd   = `}`
)

var (
	// ErrTorn is a line of the audit that is not whole, as after a disk that was full.
	ErrTorn = errors.New("line is not whole")
	// ErrForm is a line of the audit that is written otherwise than Line does.
	ErrForm = errors.New("line has not the form in which it was written")
)

// Line returns a record as a line of a log, {"msg":"audit","audit":{record}}, with a line
// break at its end.
func Line(record protocol.AuditRecord) ([]byte, error) {
	encoded, err := Encode(record)
	if err != nil {
		return nil, err
	}
	line := make([]byte, 0, len(lineBegin)+len(encoded)+len(lineEnd)+1)
	line = append(append(append(line, lineBegin...), encoded...), lineEnd...)
	return append(line, '\n'), nil
}

// ParseLine reads back what Line wrote, also behind a prefix that a container's log puts
// before it. It tells false for lines of something else. With ErrForm the record is there,
// with ErrTorn it is not.
func ParseLine(line []byte) (protocol.AuditRecord, bool, error) {
	var record protocol.AuditRecord
	before, rest, found := bytes.Cut(line, []byte(lineBegin))
	if !found || bytes.ContainsAny(before, `{"`) {
		return record, false, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(rest))
	if err := decoder.Decode(&record); err != nil {
		return protocol.AuditRecord{}, true, fmt.Errorf("%w: %w", ErrTorn, err)
	}
	encoded, err := Encode(record)
	if err != nil {
		return record, true, err
	}
	if !bytes.Equal(rest[:decoder.InputOffset()], encoded) || string(bytes.TrimSpace(rest[decoder.InputOffset():])) != lineEnd {
		return record, true, ErrForm
	}
	return record, true, nil
}
