package audit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxText is the longest text of a record that a caller chooses, in characters.
const maxText = 256

// asked is what a body asks for, as far as a record may hold it.
type asked struct {
	by, reason string
	values     map[string]string // never nil
}

// requestedFields are the fields of the mutations' bodies that records hold. What is not
// among them is never copied, so that a secret in a body stays there (C9).
func requestedFields() []string {
	return []string{
		"initialShardCount", "consumerGroups", "initialPosition", "targetShardCount", "deprecatedAfter",
		"shardIndex", "force", "deleteStreams", "close",
	}
}

// read takes the known fields from a body. One that is no JSON object gives none.
func read(body []byte) asked {
	found := asked{values: map[string]string{}}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return found
	}
	found.by, found.reason = textOf(fields["requestedBy"]), textOf(fields["reason"])
	for _, name := range requestedFields() {
		value, given := fields[name]
		if given && flat(value) {
			found.values[name] = cut(compact(value))
		}
	}
	return found
}

// flat tells of a value that is no object and holds none, as no known field does: an object
// could carry fields that nobody knows.
func flat(value json.RawMessage) bool {
	if value[0] == '{' {
		return false
	}
	var items []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &items) != nil {
		return true
	}
	return !slices.ContainsFunc(items, func(item json.RawMessage) bool { return item[0] == '{' || item[0] == '[' })
}

func compact(value json.RawMessage) string {
	var short bytes.Buffer
	if json.Compact(&short, value) != nil {
		return ""
	}
	return short.String()
}

// textOf returns what a JSON string says, "" for other values.
func textOf(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return cut(text)
}

// cut shortens a text to maxText characters and makes it valid UTF-8.
func cut(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	at := 0
	for i := range text {
		if at == maxText {
			return text[:i]
		}
		at++
	}
	return text
}
