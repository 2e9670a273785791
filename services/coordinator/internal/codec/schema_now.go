//go:build !rsc_next_schema

package codec

// Schema is the newest schema that this package reads and writes.
const Schema = 1

// forms are those of the schemas from MinSchema to Schema, in order.
func forms() []form { return []form{plain()} }
