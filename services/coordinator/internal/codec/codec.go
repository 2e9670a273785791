// Package codec turns groups, streams and progress into the bytes that a store keeps,
// and back. It is pure.
//
// Decoding fails closed: a record that cannot be read whole is refused with the name of
// the field (protocol M6), never repaired by guessing.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Errors of decoding.
var (
	// ErrCorrupt comes when bytes cannot be a record; the text names the field.
	ErrCorrupt = errors.New("metadata is corrupt")
	// ErrSchema comes when a newer binary wrote the record.
	ErrSchema = errors.New("metadata has an unsupported schema")
)

// EncodeGroup returns the aggregate of a group in a schema from MinSchema to Schema.
func EncodeGroup(schema int, g *group.Group) ([]byte, error) { return encodeAs(schema, g) }

// DecodeGroup reads an aggregate and checks that a commit can have written it.
func DecodeGroup(schema int, aggregate []byte) (*group.Group, error) {
	var g group.Group
	if err := decodeRecord(schema, aggregate, &g); err != nil {
		return nil, err
	}
	if err := checkGroup(&g); err != nil {
		return nil, err
	}
	return &g, nil
}

// EncodeStream returns the aggregate of a stream's record in a schema from MinSchema to Schema.
func EncodeStream(schema int, s stream.Stream) ([]byte, error) { return encodeAs(schema, s) }

// DecodeStream reads a stream's record and checks that a commit can have written it.
func DecodeStream(schema int, aggregate []byte) (stream.Stream, error) {
	var s stream.Stream
	if err := decodeRecord(schema, aggregate, &s); err != nil {
		return stream.Stream{}, err
	}
	if err := checkStream(&s); err != nil {
		return stream.Stream{}, err
	}
	return s, nil
}

// encodeAs encodes in the form of the schema.
func encodeAs(schema int, v any) ([]byte, error) {
	wanted, err := formOf(schema)
	if err != nil {
		return nil, err
	}
	data, err := encode(v)
	if err != nil {
		return nil, err
	}
	return wanted.pack(data), nil
}

func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	return data, nil
}

// decodeRecord reads a record whole, into a zero value: that names every key that records
// always have.
func decodeRecord(schema int, data []byte, zero any) error {
	found, err := formOf(schema)
	if err != nil {
		return err
	}
	if data, err = found.unpack(data); err != nil {
		return err
	}
	every, err := encode(zero)
	if err != nil {
		return err
	}
	if err := decode(data, zero); err != nil {
		return err
	}
	if !utf8.Valid(data) { // the decoder would put another character there
		return corrupt("aggregate", "is not UTF-8")
	}
	return checkKeys(data, outlineOf(every).keys)
}

func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return corrupt("aggregate", "has data behind its end")
	}
	return nil
}

func corrupt(field, what string) error { return fmt.Errorf("%w: %s %s", ErrCorrupt, field, what) }
