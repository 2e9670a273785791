package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf16"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// firstBeyondASCII is DEL: it and all that follows is escaped.
const firstBeyondASCII = 0x7f

// Encode returns the one form of a record: JSON with the fields in their order, map keys
// sorted, no blanks, and every character but the printable ones of ASCII escaped. So a
// record is one line, whatever its texts hold, and no line break, control sequence or
// direction mark in them can pass for something else (reliability, Audit and logs).
//
// What is not there is empty, never null: {} for the values, [] for the roles.
func Encode(record protocol.AuditRecord) ([]byte, error) {
	if record.Requested == nil {
		record.Requested = map[string]string{}
	}
	if record.Roles == nil {
		record.Roles = []string{}
	}
	line, err := escaped(record)
	if err != nil {
		return nil, fmt.Errorf("encode audit record: %w", err)
	}
	return line, nil
}

// Quote returns a text as it stands in what Encode makes of it, between the quotes, so that
// a record can be looked for by what it says.
func Quote(text string) (string, error) {
	line, err := escaped(text)
	if err != nil {
		return "", fmt.Errorf("encode text of an audit record: %w", err)
	}
	return string(line[1 : len(line)-1]), nil
}

// escaped returns a value as JSON with the printable characters of ASCII only.
func escaped(value any) ([]byte, error) {
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	// Beyond ASCII a JSON text has characters in its strings only.
	line := make([]byte, 0, plain.Len())
	for _, r := range string(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))) {
		switch {
		case r < firstBeyondASCII:
			line = append(line, byte(r))
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			line = fmt.Appendf(line, `\u%04x\u%04x`, high, low)
		default:
			line = fmt.Appendf(line, `\u%04x`, r)
		}
	}
	return line, nil
}

// Hash returns the SHA-256 of what Encode makes of a record with an empty Hash, in
// hexadecimal.
func Hash(record protocol.AuditRecord) (string, error) {
	record.Hash = ""
	line, err := Encode(record)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:]), nil
}

// Chain puts a record behind the newest one of a chain. It returns the record with its
// place and hash, and the head that the chain has then. The head of an empty chain has the
// chain's name only.
func Chain(previous protocol.AuditHead, record protocol.AuditRecord) (protocol.AuditRecord, protocol.AuditHead, error) {
	record.Chain, record.Sequence, record.PreviousHash = previous.Chain, previous.Sequence+1, previous.Hash
	hash, err := Hash(record)
	if err != nil {
		return protocol.AuditRecord{}, protocol.AuditHead{}, err
	}
	record.Hash = hash
	return record, protocol.AuditHead{Chain: record.Chain, Sequence: record.Sequence, Hash: hash}, nil
}
