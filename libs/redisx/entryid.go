package redisx

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// EntryID is the id of a stream entry, milliseconds and a sequence number. The zero value
// is 0-0, which no entry has.
type EntryID struct{ Ms, Seq uint64 }

// ParseEntryID reads an id in its full form, as in 1767225600000-0. It fails with ErrReply.
func ParseEntryID(text string) (EntryID, error) {
	ms, seq, found := strings.Cut(text, "-")
	id := EntryID{}
	var errs [2]error
	id.Ms, errs[0] = strconv.ParseUint(ms, 10, 64)
	id.Seq, errs[1] = strconv.ParseUint(seq, 10, 64)
	if !found || errs[0] != nil || errs[1] != nil || id.String() != text {
		return EntryID{}, fmt.Errorf("%w: %.64q is no entry id", ErrReply, text)
	}
	return id, nil
}

// Compare returns a negative number for an id before other, 0 for the same, a positive
// number for a later one.
func (id EntryID) Compare(other EntryID) int {
	return cmp.Or(cmp.Compare(id.Ms, other.Ms), cmp.Compare(id.Seq, other.Seq))
}

// Next returns the lowest id after this one; the highest id stays.
func (id EntryID) Next() EntryID {
	switch {
	case id.Seq < math.MaxUint64:
		return EntryID{id.Ms, id.Seq + 1}
	case id.Ms < math.MaxUint64:
		return EntryID{id.Ms + 1, 0}
	default:
		return id
	}
}

// String returns the full form.
func (id EntryID) String() string {
	return strconv.FormatUint(id.Ms, 10) + "-" + strconv.FormatUint(id.Seq, 10)
}
