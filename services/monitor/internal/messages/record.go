package messages

import (
	"encoding/base64"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

const (
	// payloadField is the field whose value is shown as the payload.
	payloadField = "payload"
	// maxRecordBytes is how many bytes of all values of a record are shown.
	maxRecordBytes = 4 * protocol.MaxMessagePayload
)

// record is what is shown of an entry.
type record struct {
	id     redisx.EntryID
	shard  facts.Shard
	fields map[string]string
	base64 []string // names, sorted
	cut    []string // names, sorted
	bytes  int      // about how long it is when it is sent
}

// recordOf shows an entry. It keeps nothing of what it cuts off.
func recordOf(shard facts.Shard, id redisx.EntryID, entry redisx.Entry) record {
	r := record{id: id, shard: shard, fields: map[string]string{}, base64: []string{}, cut: []string{}}
	left := maxRecordBytes
	for i := 0; i+1 < len(entry.Fields); i += 2 {
		name, value := nameOf(entry.Fields[i]), entry.Fields[i+1]
		r.base64, r.cut = without(r.base64, name), without(r.cut, name) // the last of equal names counts
		most := min(protocol.MaxMessagePayload, left)
		if utf8.ValidString(value) {
			shown := cutText(value, most)
			if len(shown) < len(value) {
				r.cut = append(r.cut, name)
			}
			r.fields[name] = strings.Clone(shown)
		} else {
			shown := value[:min(most, len(value))]
			if len(shown) < len(value) {
				r.cut = append(r.cut, name)
			}
			r.base64 = append(r.base64, name)
			r.fields[name] = base64.StdEncoding.EncodeToString([]byte(shown))
		}
		left -= min(left, len(value))
		r.bytes += sentBytes(name) + sentBytes(r.fields[name])
	}
	slices.Sort(r.base64)
	slices.Sort(r.cut)
	return r
}

// sentBytes returns how long a text is in JSON.
func sentBytes(text string) int {
	bytes := len(text)
	for _, char := range text {
		switch {
		case char == '"', char == '\\':
			bytes++
		case char < ' ', char == '<', char == '>', char == '&', char == '\u2028', char == '\u2029':
			bytes += len(`\u0000`) - utf8.RuneLen(char)
		}
	}
	return bytes
}

// nameOf shows the name of a field, which is bytes like any value.
func nameOf(name string) string {
	const most = 1024
	return strings.Clone(cutText(strings.ToValidUTF8(name[:min(len(name), 2*most)], "\uFFFD"), most))
}

// cutText returns at most so many bytes of a text, whole characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(other string) bool { return other == name })
}

// emptied returns the record with its values cut to nothing.
func (r record) emptied() record {
	r.base64, r.cut, r.bytes = []string{}, slices.Sorted(maps.Keys(r.fields)), 0
	r.fields = make(map[string]string, len(r.cut))
	for _, name := range r.cut {
		r.fields[name] = ""
	}
	return r
}

// payload returns the value of the payload field, nil without one.
func (r record) payload() *string {
	if value, there := r.fields[payloadField]; there {
		return &value
	}
	return nil
}

// time returns the time in an id, nil where the id's first part is none before the year
// 10000.
func (r record) time() (*int64, *protocol.Timestamp) {
	if r.id.Ms > math.MaxInt64 || time.UnixMilli(int64(r.id.Ms)).UTC().Year() > 9999 {
		return nil, nil
	}
	ms := int64(r.id.Ms)
	at := protocol.AtMillis(ms)
	return &ms, &at
}
