package codec

import (
	"bytes"
	"fmt"
	"slices"
)

// outline is what the JSON decoder does not tell of a record: which keys it names, and
// what is written in a way that no commit writes.
type outline struct {
	keys [][]byte // of the outermost object
	odd  error    // nil when there is nothing
}

// outlineOf reads data, which is valid JSON.
func outlineOf(data []byte) outline {
	var o outline
	var seen [][]byte // the keys of all objects around, the outermost first
	var begun []int   // where the keys of each of these objects begin
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			begun = append(begun, len(seen))
		case '}':
			last := len(begun) - 1
			if last == 0 {
				o.keys = seen
			}
			seen, begun = seen[:begun[last]], begun[:last]
		case 'n':
			o.odd = corrupt("aggregate", "has a null")
		case '"':
			text := textAt(data, i)
			i += len(text) + 1
			if !bytes.HasPrefix(bytes.TrimLeft(data[i+1:], " \t\r\n"), []byte(":")) {
				continue
			}
			if err := oddKey(text, seen[begun[len(begun)-1]:]); err != nil {
				o.odd = err
			}
			seen = append(seen, text)
		}
	}
	return o
}

// oddKey refuses a key that its object names twice. The decoder takes the last of two
// values, and keys in any letter case.
func oddKey(key []byte, before [][]byte) error {
	if bytes.IndexByte(key, '\\') >= 0 {
		return corrupt(fmt.Sprintf("%.64q", key), "is a key with an escape")
	}
	if slices.ContainsFunc(before, func(other []byte) bool { return bytes.EqualFold(other, key) }) {
		return corrupt(fmt.Sprintf("%.64q", key), "is named twice in one object")
	}
	return nil
}

// textAt returns what stands between the quotes of the string that begins at i.
func textAt(data []byte, i int) []byte {
	end := i + 1
	for data[end] != '"' {
		if data[end] == '\\' {
			end++
		}
		end++
	}
	return data[i+1 : end]
}

// checkKeys refuses a record that lacks one of the keys that all have, or is written
// oddly: the decoder would put a zero there and say nothing.
func checkKeys(data []byte, all [][]byte) error {
	o := outlineOf(data)
	if o.odd != nil {
		return o.odd
	}
	for _, key := range all {
		if !slices.ContainsFunc(o.keys, func(k []byte) bool { return bytes.Equal(k, key) }) {
			return corrupt(string(key), "is missing")
		}
	}
	return nil
}
