package httpx

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// MaxDepth is how deep objects and lists of a body may nest (wire contract).
const MaxDepth = 32

// Decoder reads one kind of JSON body into a T, a struct, by the rules of the wire
// contract. It is stricter than encoding/json:
//
//   - keys match in case, or are unknown; unknown keys are ignored;
//   - a field must be there unless it is a pointer, a list, marked omitempty, or named
//     to NewDecoder;
//   - null is taken only by pointers and lists;
//   - duplicate keys, text after the object, nesting over MaxDepth, invalid UTF-8 and
//     lone surrogates are refused, in unknown parts too.
//
// T is built of structs, pointers, slices, strings, booleans, signed integers and types
// that implement json.Unmarshaler and stand for a JSON string. A Decoder is safe for
// concurrent use.
type Decoder[T any] struct {
	plan *plan
	err  error
}

// NewDecoder returns a decoder for T. The fields named optional, by JSON name at any
// depth, may be absent besides those that the type says so of.
func NewDecoder[T any](optional ...string) *Decoder[T] {
	root, err := planOf(reflect.TypeFor[T](), optional)
	if err == nil && root.kind != kindObject {
		err = fmt.Errorf("decode into %s: not a struct", reflect.TypeFor[T]())
	}
	return &Decoder[T]{plan: root, err: err}
}

// Decode reads body. Every refusal is a *protocol.Error with INVALID_REQUEST whose text
// names the place; an error of another kind means that T cannot be decoded into.
func (d *Decoder[T]) Decode(body []byte) (T, error) {
	var into T
	if d.err != nil {
		return into, d.err
	}
	if err := checkJSON(body); err != nil {
		return into, err
	}
	c := cursor{data: body}
	if found := c.value(d.plan, reflect.ValueOf(&into).Elem(), 1); found != nil {
		var none T
		return none, found.refusal()
	}
	return into, nil
}

// checkJSON refuses what is not one JSON text in UTF-8, so that the cursor meets
// nothing else.
func checkJSON(body []byte) error {
	switch {
	case len(body) == 0:
		return protocol.Errorf(protocol.CodeInvalidRequest, "body is empty")
	case !utf8.Valid(body):
		return protocol.Errorf(protocol.CodeInvalidRequest, "body is not valid UTF-8")
	case json.Valid(body):
		return nil
	}
	var text json.RawMessage
	err := json.Unmarshal(body, &text)
	return protocol.Errorf(protocol.CodeInvalidRequest, "body is not valid JSON: %v", err)
}

// fault is what is wrong with a body, and where.
type fault struct{ place, text string }

func faultf(format string, args ...any) *fault { return &fault{text: fmt.Sprintf(format, args...)} }

// under puts the fault below a field. Unknown fields are not named: the place is then
// that of the nearest known one around them.
func (f *fault) under(name string) *fault {
	if f.place != "" && f.place[0] != '[' {
		name += "."
	}
	f.place = name + f.place
	return f
}

// within puts the fault into a list; the list's name comes with under.
func (f *fault) within(index int) *fault {
	item := fmt.Sprintf("[%d]", index)
	if f.place != "" && f.place[0] != '[' {
		item += "."
	}
	f.place = item + f.place
	return f
}

func (f *fault) refusal() error {
	place := f.place
	if place == "" {
		place = "body"
	}
	return protocol.Errorf(protocol.CodeInvalidRequest, "%s %s", place, f.text)
}
