package httpx

import (
	"encoding/json"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// cursor walks over JSON that is known to be valid. A nil plan means that the value is
// of no interest; it is walked over all the same, as the rules hold there too.
type cursor struct {
	data []byte
	pos  int
}

// value fills into, or walks over a value when p is nil.
func (c *cursor) value(p *plan, into reflect.Value, depth int) *fault {
	first := c.peek()
	if p != nil && p.kind == kindPointer && first != 'n' {
		into.Set(reflect.New(into.Type().Elem()))
		return c.value(p.elem, into.Elem(), depth)
	}
	switch first {
	case '{':
		return c.object(p, into, depth)
	case '[':
		return c.list(p, into, depth)
	case '"':
		return c.text(p, into)
	case 'n':
		return c.null(p)
	case 't', 'f':
		return c.flag(p, into, first == 't')
	default:
		return c.number(p, into)
	}
}

func (c *cursor) object(p *plan, into reflect.Value, depth int) *fault {
	if p != nil && p.kind != kindObject {
		return wrongType(p)
	}
	if depth > MaxDepth {
		return faultf("nests deeper than %d", MaxDepth)
	}
	var seen uint64
	var strangers map[string]struct{} // unknown keys, made when there is one
	for c.pos++; c.peek() != '}'; c.comma() {
		key, bad := c.str()
		if bad != nil {
			return bad
		}
		c.peek()
		c.pos++ // the colon
		at, known := p.index(key)
		if !known {
			if _, twice := strangers[string(key)]; twice {
				return duplicate(key)
			}
			if strangers == nil {
				strangers = make(map[string]struct{})
			}
			strangers[string(key)] = struct{}{}
			if bad := c.value(nil, reflect.Value{}, depth+1); bad != nil {
				return bad
			}
			continue
		}
		if seen&(1<<at) != 0 {
			return duplicate(key)
		}
		seen |= 1 << at
		if bad := c.value(p.fields[at].plan, into.Field(p.fields[at].at), depth+1); bad != nil {
			return bad.under(p.fields[at].name)
		}
	}
	c.pos++
	if p != nil && p.required&^seen != 0 {
		return faultf("is missing").under(p.fields[bits.TrailingZeros64(p.required&^seen)].name)
	}
	return nil
}

func (c *cursor) list(p *plan, into reflect.Value, depth int) *fault {
	if p != nil && p.kind != kindList {
		return wrongType(p)
	}
	if depth > MaxDepth {
		return faultf("nests deeper than %d", MaxDepth)
	}
	length := 0
	for c.pos++; c.peek() != ']'; c.comma() {
		if p == nil {
			if bad := c.value(nil, reflect.Value{}, depth+1); bad != nil {
				return bad
			}
			continue
		}
		if length == into.Cap() {
			into.Grow(max(length, 4))
		}
		into.SetLen(length + 1)
		into.Index(length).SetZero()
		if bad := c.value(p.elem, into.Index(length), depth+1); bad != nil {
			return bad.within(length)
		}
		length++
	}
	c.pos++
	return nil
}

func (c *cursor) text(p *plan, into reflect.Value) *fault {
	begin := c.pos
	text, bad := c.str()
	switch {
	case bad != nil || p == nil:
		return bad
	case p.kind == kindText:
		into.SetString(string(text))
		return nil
	case p.kind == kindCustom:
		custom, _ := reflect.TypeAssert[json.Unmarshaler](into.Addr())
		if custom.UnmarshalJSON(c.data[begin:c.pos]) != nil {
			return faultf("has no valid form: %q", protocol.Echo(string(text)))
		}
		return nil
	default:
		return wrongType(p)
	}
}

func (c *cursor) null(p *plan) *fault {
	c.pos += len("null")
	if p != nil && p.kind != kindPointer && p.kind != kindList {
		return faultf("must not be null")
	}
	return nil
}

func (c *cursor) flag(p *plan, into reflect.Value, value bool) *fault {
	c.pos += len(strconv.FormatBool(value))
	switch {
	case p == nil:
	case p.kind != kindFlag:
		return wrongType(p)
	default:
		into.SetBool(value)
	}
	return nil
}

func (c *cursor) number(p *plan, into reflect.Value) *fault {
	begin := c.pos
	for c.pos < len(c.data) && strings.IndexByte("+-.0123456789Ee", c.data[c.pos]) >= 0 {
		c.pos++
	}
	switch {
	case p == nil:
		return nil
	case p.kind != kindNumber:
		return wrongType(p)
	}
	text := string(c.data[begin:c.pos])
	value, err := strconv.ParseInt(text, 10, into.Type().Bits())
	if err != nil {
		return faultf("is no whole number in range: %s", protocol.Echo(text))
	}
	into.SetInt(value)
	return nil
}

// str reads a string. Its escapes are checked for lone surrogates, which encoding/json
// would replace in silence, so that two texts would become one. The result may share
// memory with the body.
func (c *cursor) str() ([]byte, *fault) {
	begin, escaped := c.pos, false
	for c.pos++; c.data[c.pos] != '"'; c.pos++ {
		if c.data[c.pos] == '\\' {
			escaped = true
			c.pos++
		}
	}
	c.pos++
	if !escaped {
		return c.data[begin+1 : c.pos-1], nil
	}
	if loneSurrogate(c.data[begin:c.pos]) {
		return nil, faultf("has a surrogate without its other half")
	}
	var text string
	if json.Unmarshal(c.data[begin:c.pos], &text) != nil {
		return nil, faultf("is not a valid string")
	}
	return []byte(text), nil
}

// peek moves on to the next byte that is not white space and returns it.
func (c *cursor) peek() byte {
	for {
		switch b := c.data[c.pos]; b {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return b
		}
	}
}

// comma moves over the comma between two items, if one follows.
func (c *cursor) comma() {
	if c.peek() == ',' {
		c.pos++
	}
}

func (p *plan) index(key []byte) (at int, known bool) {
	if p == nil {
		return 0, false
	}
	at, known = p.byName[string(key)]
	return at, known
}

func duplicate(key []byte) *fault {
	return faultf("has the key %q twice", protocol.Echo(string(key)))
}

func wrongType(p *plan) *fault {
	switch p.kind {
	case kindObject:
		return faultf("must be an object")
	case kindList:
		return faultf("must be a list")
	case kindNumber:
		return faultf("must be a whole number")
	case kindFlag:
		return faultf("must be true or false")
	case kindPointer, kindText, kindCustom:
	}
	return faultf("must be a string")
}
