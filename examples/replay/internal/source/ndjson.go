package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// parseNDJSON takes the value of the field key for the key: a string as it is, anything
// else as it is written. The first record has to have the field; later ones without it
// have the empty key.
func parseNDJSON(body io.Reader, key string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		seq := int64(0)
		for one, err := range lines(body) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(bytes.TrimSpace(one.text)) == 0 {
				continue
			}
			seq++
			record, err := jsonRecord(one, seq, key)
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func jsonRecord(one line, seq int64, key string) (Record, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(one.text, &fields); err != nil {
		return Record{}, fmt.Errorf("line %d: %w: no JSON object: %w", one.number, ErrFormat, err)
	}
	text := string(one.text)
	if key == "" {
		return Record{Seq: seq, Key: bucket(text), Data: text}, nil
	}
	value, found := fields[key]
	if !found && seq == 1 {
		return Record{}, fmt.Errorf("line %d: %w: the record has no field %q", one.number, ErrNoKey, key)
	}
	var name string
	if json.Unmarshal(value, &name) != nil {
		name = string(value)
	}
	return Record{Seq: seq, Key: name, Data: text}, nil
}
