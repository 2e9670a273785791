package rates

import (
	"cmp"
	"strconv"
	"strings"
)

// recordID is the id of an entry. The zero value lies before all entries.
type recordID struct{ ms, seq uint64 }

// idOf reads an id. Nil, and what is no id, lies before all entries.
func idOf(text *string) recordID {
	if text == nil {
		return recordID{}
	}
	first, second, _ := strings.Cut(*text, "-")
	ms, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return recordID{}
	}
	seq, err := strconv.ParseUint(second, 10, 64)
	if err != nil {
		return recordID{ms: ms}
	}
	return recordID{ms, seq}
}

// compare returns a negative number where id lies before other, 0 where they are the same.
func (id recordID) compare(other recordID) int {
	return cmp.Or(cmp.Compare(id.ms, other.ms), cmp.Compare(id.seq, other.seq))
}

func (id recordID) after(other recordID) bool { return id.compare(other) > 0 }
