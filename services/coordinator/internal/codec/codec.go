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
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Schema is the version of what this package writes; MinSchema is the oldest it reads.
const (
	Schema    = 1
	MinSchema = 1
)

// Errors of decoding.
var (
	// ErrCorrupt comes when bytes cannot be a record; the text names the field.
	ErrCorrupt = errors.New("metadata is corrupt")
	// ErrSchema comes when a newer binary wrote the record.
	ErrSchema = errors.New("metadata has an unsupported schema")
)

// EncodeGroup returns the aggregate of a group.
func EncodeGroup(g *group.Group) ([]byte, error) { return encode(g) }

// DecodeGroup reads an aggregate and checks that it can be a group.
func DecodeGroup(schema int, aggregate []byte) (*group.Group, error) {
	var g group.Group
	if err := decode(schema, aggregate, &g); err != nil {
		return nil, err
	}
	if err := checkGroup(&g); err != nil {
		return nil, err
	}
	return &g, nil
}

// EncodeStream returns the aggregate of a stream's record.
func EncodeStream(s stream.Stream) ([]byte, error) { return encode(s) }

// DecodeStream reads a stream's record.
func DecodeStream(schema int, aggregate []byte) (stream.Stream, error) {
	var s stream.Stream
	if err := decode(schema, aggregate, &s); err != nil {
		return stream.Stream{}, err
	}
	switch {
	case s.Prefix == "":
		return s, corrupt("prefix", "is empty")
	case s.ShardCount < 0:
		return s, corrupt("shardCount", "is negative")
	case !slices.IsSortedFunc(s.Groups, func(a, b stream.Group) int { return strings.Compare(a.Name, b.Name) }):
		return s, corrupt("groups", "is not sorted")
	}
	return s, nil
}

func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	return data, nil
}

func decode(schema int, data []byte, into any) error {
	if schema < MinSchema || schema > Schema {
		return fmt.Errorf("%w: %d, this binary reads %d to %d", ErrSchema, schema, MinSchema, Schema)
	}
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
