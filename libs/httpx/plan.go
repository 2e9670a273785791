package httpx

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxFields is how many fields a struct may have: they are counted in the bits of a word.
const maxFields = 64

type kind int

const (
	kindObject kind = iota
	kindList
	kindPointer
	kindText
	kindNumber
	kindFlag
	kindCustom // implements json.Unmarshaler, stands for a JSON string
)

// plan says how a Go type is filled; it is made once for each type.
type plan struct {
	kind     kind
	fields   []field        // of an object
	byName   map[string]int // JSON name to index of fields
	required uint64         // bit i: fields[i] must be there
	elem     *plan          // of a list or a pointer
}

type field struct {
	name string
	at   int // index within the struct
	plan *plan
}

func planOf(t reflect.Type, optional []string) (*plan, error) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return &plan{kind: kindCustom}, nil
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct:
		return planOfStruct(t, optional)
	case kind == reflect.Slice:
		elem, err := planOf(t.Elem(), optional)
		return &plan{kind: kindList, elem: elem}, err
	case kind == reflect.Pointer:
		elem, err := planOf(t.Elem(), optional)
		return &plan{kind: kindPointer, elem: elem}, err
	case kind == reflect.String:
		return &plan{kind: kindText}, nil
	case kind == reflect.Bool:
		return &plan{kind: kindFlag}, nil
	case kind >= reflect.Int && kind <= reflect.Int64:
		return &plan{kind: kindNumber}, nil
	}
	return nil, fmt.Errorf("decode into %s: no JSON value stands for it here", t)
}

func planOfStruct(t reflect.Type, optional []string) (*plan, error) {
	p := &plan{kind: kindObject, byName: make(map[string]int)}
	if t.NumField() > maxFields {
		return nil, fmt.Errorf("decode into %s: more than %d fields", t, maxFields)
	}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		inner, err := planOf(t.Field(i).Type, optional)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		mayMiss := options == "omitempty" || slices.Contains(optional, name) ||
			inner.kind == kindPointer || inner.kind == kindList
		if !mayMiss {
			p.required |= 1 << len(p.fields)
		}
		p.byName[name] = len(p.fields)
		p.fields = append(p.fields, field{name: name, at: i, plan: inner})
	}
	return p, nil
}
