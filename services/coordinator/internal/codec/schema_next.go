//go:build rsc_next_schema

package codec

import (
	"bytes"
	"fmt"
)

// Schema is that of a release to come. This build is only for the test that updates
// coordinators while they serve, with records that a release of today cannot read.
const Schema = 2

// forms are those of the schemas from MinSchema to Schema, in order.
func forms() []form { return []form{plain(), wrapped()} }

// wrapped puts the record into an object of its own.
func wrapped() form {
	const head, tail = `{"next":`, `}`
	return form{
		pack: func(record []byte) []byte { return append(append([]byte(head), record...), tail...) },
		unpack: func(aggregate []byte) ([]byte, error) {
			inner, begins := bytes.CutPrefix(bytes.TrimSpace(aggregate), []byte(head))
			inner, ends := bytes.CutSuffix(inner, []byte(tail))
			if !begins || !ends {
				return nil, fmt.Errorf("%w: aggregate has no record of schema %d", ErrCorrupt, Schema)
			}
			return inner, nil
		},
	}
}
