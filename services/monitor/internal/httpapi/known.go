package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// known is what a follower has been told, by what it is of.
type known map[subject][]byte

// subject is what a piece is of.
type subject struct {
	at    place
	index int
}

// learn takes all pieces of a round and returns those that are not known as they are, in
// their order, and what is no longer there.
func (k *known) learn(all []piece) (changed []json.RawMessage, gone []subject) {
	now := make(known, len(all))
	changed = []json.RawMessage{}
	for _, each := range all {
		of := subject{each.at, each.index}
		now[of] = each.told
		if before, told := (*k)[of]; !told || !bytes.Equal(before, each.told) {
			changed = append(changed, each.data)
		}
	}
	for of := range *k {
		if _, still := now[of]; !still {
			gone = append(gone, of)
		}
	}
	slices.SortFunc(gone, func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.at.stream, b.at.stream), cmp.Compare(a.at.group, b.at.group), cmp.Compare(a.index, b.index))
	})
	*k = now
	return changed, gone
}
