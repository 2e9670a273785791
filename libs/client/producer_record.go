package client

import (
	"context"
	"encoding"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// KeyField is the field in which a record carries its partition key, so that consumers
// see it as the key of the message. A record that has the field already keeps its own,
// and ProducerOptions.OmitKeyField leaves it out.
const KeyField = "_key"

// Record is what is published.
type Record struct {
	// Key is the partition key; records with the same key go to the same shard while the
	// shard count stays. Its bytes are hashed as they are; an empty key is a key too.
	Key string
	// Fields are the fields of the entry, written in the order of their names. Values may
	// be strings, byte slices, numbers, booleans (1 and 0), time.Time (RFC 3339),
	// time.Duration (nanoseconds), nil (empty) and encoding.BinaryMarshaler.
	Fields map[string]any
	// Values are further fields in their order, names and values in turns. Names are
	// strings.
	Values []any
}

// Result says where a record is.
type Result struct {
	// StreamKey is the Redis key of the shard, and Shard its index.
	StreamKey string
	Shard     int
	// ID is the id of the stream entry.
	ID string
	// MetadataVersion is the version of the routing that sent the record there.
	MetadataVersion int64
}

// The place of the stream key among the arguments of an XADD.
const keyArg = 1

// encoder turns records into the arguments of an XADD.
type encoder struct {
	maxLen  any // nil does not trim
	trim    any // "~" or "="
	withKey bool
	spare   int // room for arguments that are added later
}

func newEncoder(opts ProducerOptions) encoder {
	e := encoder{withKey: !opts.OmitKeyField, trim: "~"}
	if opts.MaxLen > 0 {
		e.maxLen = opts.MaxLen
	}
	if opts.ExactTrim {
		e.trim = "="
	}
	return e
}

// args returns the arguments of the XADD for rec, with the stream key still to be set.
func (e encoder) args(rec *Record) ([]any, error) {
	const fixed = 9 // XADD key NOMKSTREAM MAXLEN ~ n * and the key field
	args := make([]any, 0, fixed+e.spare+2*len(rec.Fields)+len(rec.Values))
	args = append(args, "XADD", nil, "NOMKSTREAM")
	if e.maxLen != nil {
		args = append(args, "MAXLEN", e.trim, e.maxLen)
	}
	args = append(args, "*")
	first := len(args)
	if e.withKey && !rec.hasField(KeyField) {
		args = append(args, KeyField, rec.Key)
	}
	var few [8]string
	names := few[:0]
	for name := range rec.Fields {
		names = append(names, name)
	}
	slices.Sort(names) // entries with the same names in the same order are stored smaller
	for _, name := range names {
		args = append(args, name, rec.Fields[name])
	}
	args = append(args, rec.Values...)
	return args, checkFields(args[first:])
}

func (r *Record) hasField(name string) bool {
	if _, ok := r.Fields[name]; ok {
		return true
	}
	for i := 0; i < len(r.Values); i += 2 {
		if r.Values[i] == name {
			return true
		}
	}
	return false
}

// checkFields refuses what the Redis client would find only while it writes, when a whole
// pipeline fails with it. It replaces values that marshal themselves by their bytes.
func checkFields(fields []any) error {
	if len(fields) == 0 {
		return fmt.Errorf("%w: no fields", ErrInvalidRecord)
	}
	if len(fields)%2 != 0 {
		return fmt.Errorf("%w: a field without a value", ErrInvalidRecord)
	}
	for i := 0; i < len(fields); i += 2 {
		name, ok := fields[i].(string)
		if !ok {
			return fmt.Errorf("%w: a field name is a %T", ErrInvalidRecord, fields[i])
		}
		switch value := fields[i+1].(type) {
		case nil, string, []byte, bool, int, int8, int16, int32, int64,
			uint, uint8, uint16, uint32, uint64, float32, float64, time.Time, time.Duration:
		case encoding.BinaryMarshaler:
			data, err := value.MarshalBinary()
			if err != nil {
				return fmt.Errorf("%w: field %q: %w", ErrInvalidRecord, name, err)
			}
			fields[i+1] = data
		default:
			return fmt.Errorf("%w: field %q is a %T", ErrInvalidRecord, name, value)
		}
	}
	return nil
}

// appendCommand is an XADD that the Redis client sends once: it follows redirects of a
// cluster, but does not repeat a command that may have been carried out, as it does with
// other commands by default.
type appendCommand struct{ *redis.StringCmd }

func newAppendCommand(ctx context.Context, args []any) appendCommand {
	return appendCommand{redis.NewStringCmd(ctx, args...)}
}

// NoRetry implements redis.Cmder.
func (appendCommand) NoRetry() bool { return true }

// written returns the entry's id. It is known also when the connection broke, or a hook
// failed, after the reply was read.
func (c appendCommand) written() (string, bool) {
	id := c.Val()
	return id, id != ""
}
