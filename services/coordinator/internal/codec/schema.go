package codec

import "fmt"

// MinSchema is the oldest schema that this package reads and writes, Schema (schema_now.go) the
// newest. A coordinator writes the older one until every other reads the newer (storage,
// Versions), so they differ by one at most.
const MinSchema = 1

// Newest returns Schema: what a coordinator writes that knows of no older one.
func Newest() int { return Schema }

// form is how a schema writes what the types of this binary hold.
type form struct {
	// pack turns a record's JSON into its aggregate.
	pack func(record []byte) []byte
	// unpack is its inverse. It refuses what it cannot read with ErrCorrupt.
	unpack func(aggregate []byte) ([]byte, error)
}

// plain is the form of schema 1: the record's JSON.
func plain() form {
	return form{
		pack:   func(record []byte) []byte { return record },
		unpack: func(aggregate []byte) ([]byte, error) { return aggregate, nil },
	}
}

// formOf returns the form of a schema, ErrSchema for one of another binary.
func formOf(schema int) (form, error) {
	known := forms()
	if schema < MinSchema || schema-MinSchema >= len(known) {
		return form{}, fmt.Errorf("%w: %d, this binary reads %d to %d", ErrSchema, schema, MinSchema, Schema)
	}
	return known[schema-MinSchema], nil
}
