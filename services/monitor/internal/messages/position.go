package messages

import (
	"cmp"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// position is a place in the order of a walk over all shards: the id of a record, and the
// index of its shard. FORWARD the records of equal ids follow each other by index.
type position struct {
	id    redisx.EntryID
	index int
}

func (p position) compare(other position) int {
	return cmp.Or(p.id.Compare(other.id), cmp.Compare(p.index, other.index))
}

// bound returns the id next to which a shard goes on that says nothing else of itself, itself
// excluded; nil is the end that the direction comes from.
func (p position) bound(index int, forward bool) *redisx.EntryID {
	switch {
	case forward && index > p.index: // its record of this id comes yet
		return before(p.id)
	case !forward && index < p.index:
		if p.id == highestID() {
			return nil
		}
		above := p.id.Next()
		return &above
	}
	return &p.id
}

// before returns the id that comes before another, nil for the lowest.
func before(id redisx.EntryID) *redisx.EntryID {
	switch {
	case id.Seq > 0:
		return &redisx.EntryID{Ms: id.Ms, Seq: id.Seq - 1}
	case id.Ms > 0:
		return &redisx.EntryID{Ms: id.Ms - 1, Seq: math.MaxUint64}
	}
	return nil
}

func highestID() redisx.EntryID { return redisx.EntryID{Ms: math.MaxUint64, Seq: math.MaxUint64} }

// text writes a position as a cursor, all:{id}.{index}, with what is behind it where there is
// a word on that.
func (p position) text(behind []byte) *string {
	text := allPrefix + p.id.String() + "." + strconv.Itoa(p.index)
	if len(behind) > 0 {
		text += "." + base64.RawURLEncoding.EncodeToString(behind)
	}
	return &text
}

// readPosition reads what text has written, false where it is something else.
func (at *start) readPosition(q Query, forward bool) bool {
	parts := strings.Split(strings.TrimPrefix(q.Cursor, allPrefix), ".")
	if len(parts) < 2 || len(parts) > 3 || !forward && len(parts) == 3 {
		return false
	}
	id, err := redisx.ParseEntryID(parts[0])
	if err != nil {
		return false
	}
	index, err := strconv.Atoi(parts[1])
	if err != nil || index < 0 || strconv.Itoa(index) != parts[1] {
		return false
	}
	at.high = &position{id, index}
	for place, shard := range q.Shards {
		at.bounds[place] = at.high.bound(shard.Index, forward)
	}
	if len(parts) == 2 {
		return true
	}
	behind, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	return err == nil && at.readBehind(behind, q.Shards)
}

// readBehind sets the bounds of the shards that are behind the position.
func (at *start) readBehind(text []byte, shards []facts.Shard) bool {
	places := make(map[int]int, len(shards))
	for place, shard := range shards {
		places[shard.Index] = place
	}
	seen := map[int]bool{}
	known, ok := decodeBehind(text, at.high.id, func(index int, bound redisx.EntryID) bool {
		if place, there := places[index]; there { // one that was removed has no records any more
			at.bounds[place] = &bound
		}
		again := seen[index]
		seen[index] = true
		return !again
	})
	for place, shard := range shards {
		if shard.Index >= known { // made since; all of its records come yet
			at.bounds[place] = nil
		}
	}
	return ok
}
