package messages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

const (
	// maxBehind is how many bytes say which shards are behind a position. As a text, with the
	// longest names beside it, that is a query of less than 8,000 bytes.
	maxBehind = 4500
	// alwaysFit is how many shards are never too many for that, whatever their ids.
	alwaysFit = 128
	// maxKnown bounds the number of shards that a cursor may speak of.
	maxKnown = 1 << 20
)

// reach is how far a shard was read when a page ended.
type reach struct {
	index int
	// bound is the last id that was read, zero for none; what is shown next lies above it.
	bound redisx.EntryID
	// next is the id that follows as far as is known, nil where nothing did.
	next *redisx.EntryID
}

// behind returns the shards for which a position does not say how far they were read. Of
// the others the next record lies beyond the position, and as ids grow within a shard, so does
// whatever is written to it. One whose records were all read may be given a lower id yet: by a
// server whose clock is behind, or by a producer that makes its own ids.
func behind(at position, reaches []reach) []reach {
	return slices.DeleteFunc(slices.Clone(reaches), func(r reach) bool {
		from := at.from(r.index)
		return r.bound.Compare(from) >= 0 || r.next != nil && r.next.Compare(from) > 0
	})
}

// from is bound going FORWARD, the zero id where it is the beginning.
func (p position) from(index int) redisx.EntryID {
	if bound := p.bound(index, true); bound != nil {
		return *bound
	}
	return redisx.EntryID{}
}

// raise moves shards of which all was read up to the highest id that their server has ceased
// to give, by its clock; floors are those by index. Those that are no longer behind are gone
// then. It is as good as the bound as long as the server makes the ids and its clock does not
// go back.
func raise(at position, list []reach, floors map[int]redisx.EntryID) []reach {
	raised := slices.Clone(list)
	for i, r := range raised {
		if floor, there := floors[r.index]; there && r.next == nil && r.bound.Compare(floor) < 0 {
			raised[i].bound = floor
		}
	}
	return behind(at, raised)
}

// group is shards that were read equally far.
type group struct {
	bound   redisx.EntryID
	unread  bool  // some have a record below the position that comes yet
	indexes []int // growing
}

// encodeBehind says how far the shards behind a position were read, known being how many
// shards the stream has: their number, then for each group the bound, its milliseconds as the
// distance from the position's, and the shards. It tells false where that is too long; what
// would be missed for sure, and what was written last, is said first then.
func encodeBehind(at position, known int, list []reach) ([]byte, bool) {
	byBound := map[redisx.EntryID]*group{}
	for _, r := range list {
		if byBound[r.bound] == nil {
			byBound[r.bound] = &group{bound: r.bound}
		}
		g := byBound[r.bound]
		g.indexes, g.unread = append(g.indexes, r.index), g.unread || r.next != nil
	}
	groups := slices.SortedFunc(maps.Values(byBound), func(a, b *group) int {
		if a.unread != b.unread {
			return map[bool]int{true: -1, false: 1}[a.unread]
		}
		return b.bound.Compare(a.bound)
	})
	text, whole := binary.AppendUvarint(nil, uint64(known)), true
	for _, g := range groups {
		longer := binary.AppendUvarint(text, at.id.Ms-g.bound.Ms)
		longer = append(binary.AppendUvarint(longer, g.bound.Seq), encodeIndexes(known, g.indexes)...)
		if len(longer) > maxBehind {
			whole = false
			continue
		}
		text = longer
	}
	return text, whole
}

// encodeIndexes writes a set of shards: how many, and the distance of each from the one
// before; or 0 and a bit for every shard, where that is shorter.
func encodeIndexes(known int, indexes []int) []byte {
	list, last := binary.AppendUvarint(nil, uint64(len(indexes))), 0
	for _, index := range indexes {
		list = binary.AppendUvarint(list, uint64(index-last))
		last = index
	}
	if len(list) <= 1+(known+7)/8 {
		return list
	}
	bits := make([]byte, 1+(known+7)/8)
	for _, index := range indexes {
		bits[1+index/8] |= 1 << (index % 8)
	}
	return bits
}

// decodeBehind reads what encodeBehind has written, and hands each shard's bound to see. It
// returns how many shards were known, and false for what is none of its texts.
func decodeBehind(text []byte, at redisx.EntryID, see func(index int, bound redisx.EntryID) bool) (int, bool) {
	r := bytes.NewReader(text)
	number := func() uint64 {
		n, err := binary.ReadUvarint(r)
		if err != nil {
			r.Reset(nil)
			return maxKnown + 1 // too much of whatever it is
		}
		return n
	}
	known := number()
	ok := known <= maxKnown
	for ok && r.Len() > 0 {
		back, seq, count := number(), number(), number()
		if back > at.Ms || count > known {
			return 0, false
		}
		bound := redisx.EntryID{Ms: at.Ms - back, Seq: seq}
		indexes := readIndexes(r, int(known), int(count))
		ok = len(indexes) > 0 && bound.Compare(at) <= 0
		for _, index := range indexes {
			ok = ok && index < int(known) && see(index, bound)
		}
	}
	return int(min(known, maxKnown)), ok
}

// readIndexes reads a set of shards; it is empty where the text ends before.
func readIndexes(r *bytes.Reader, known, count int) []int {
	var indexes []int
	if count == 0 {
		for at := 0; at < known; at += 8 {
			bits, err := r.ReadByte()
			if err != nil {
				return nil
			}
			for bit := range 8 {
				if bits&(1<<bit) != 0 {
					indexes = append(indexes, at+bit)
				}
			}
		}
		return indexes
	}
	last := uint64(0)
	for range count {
		step, err := binary.ReadUvarint(r)
		if err != nil || step > maxKnown {
			return nil
		}
		last += step
		indexes = append(indexes, int(last))
	}
	return indexes
}

// knownOf returns how many shards a stream has, by the highest index.
func knownOf(reaches []reach) int {
	return 1 + slices.MaxFunc(reaches, func(a, b reach) int { return cmp.Compare(a.index, b.index) }).index
}
