package messages

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Forms of cursors besides a record id.
const (
	allPrefix  = "all:"
	tailPrefix = "__rsc_tail__:"
	lastPage   = "__rsc_last__"
	// others stands for the index of all shards that a cursor does not name.
	others = "*"
)

// maxTail is how many records from the end a tail page may begin.
const maxTail = 100_000

// start is where a page begins.
type start struct {
	// tail is how many pages before the last one, -1 for a page that begins at bounds.
	tail int
	// bounds are the ids next to which reading goes on, themselves excluded, by the place of
	// the shard in the query; nil is the end that the direction comes from.
	bounds []*redisx.EntryID
	// high is the furthest that any shard was read before, nil at the beginning.
	high *position
}

// startOf reads the cursor of a query.
func startOf(q Query, forward bool) (start, error) {
	at := start{tail: -1, bounds: make([]*redisx.EntryID, len(q.Shards))}
	switch {
	case q.Cursor == "":
		return at, nil
	case q.Cursor == lastPage:
		at.tail = 0
		return at, nil
	case strings.HasPrefix(q.Cursor, tailPrefix):
		n, err := strconv.ParseUint(strings.TrimPrefix(q.Cursor, tailPrefix), 10, 31)
		if err != nil {
			return at, badCursor(q)
		}
		if (int(n)+1)*q.Limit > maxTail {
			return at, protocol.Errorf(protocol.CodeInvalidRequest,
				"pages are counted up to %d records from the end; go on with the cursors of pages", maxTail)
		}
		at.tail = int(n)
		return at, nil
	case strings.HasPrefix(q.Cursor, allPrefix) && !strings.Contains(q.Cursor, "="):
		if !q.AllShards || !at.readPosition(q, forward) {
			return at, badCursor(q)
		}
		return at, nil
	case strings.HasPrefix(q.Cursor, allPrefix):
		err := at.readAll(q)
		return at, err
	default:
		id, err := redisx.ParseEntryID(q.Cursor)
		if err != nil {
			return at, badCursor(q)
		}
		for i := range at.bounds {
			at.bounds[i] = &id
		}
		at.high = &position{id, math.MaxInt}
		return at, nil
	}
}

// readAll reads the form that says for each shard how far it was read. No page gives it any
// more, for its length; who has one goes on with it.
func (at *start) readAll(q Query) error {
	if !q.AllShards {
		return badCursor(q)
	}
	places := placesOf(q.Shards)
	var rest *redisx.EntryID
	for part := range strings.SplitSeq(strings.TrimPrefix(q.Cursor, allPrefix), ",") {
		index, text, _ := strings.Cut(part, "=")
		place, there := places[index]
		id, err := redisx.ParseEntryID(text)
		switch {
		case err != nil:
			return badCursor(q)
		case index == others && rest == nil:
			rest = &id
		case !there || at.bounds[place] != nil:
			return badCursor(q)
		default:
			at.bounds[place] = &id
		}
	}
	for i, bound := range at.bounds {
		at.bounds[i] = cmp.Or(bound, rest)
		if bound = at.bounds[i]; bound != nil && (at.high == nil || at.high.id.Compare(*bound) < 0) {
			at.high = &position{*bound, math.MaxInt}
		}
	}
	return nil
}

// placesOf returns where the shards stand in a query, by their indexes as texts.
func placesOf(shards []facts.Shard) map[string]int {
	places := make(map[string]int, len(shards))
	for i, shard := range shards {
		places[strconv.Itoa(shard.Index)] = i
	}
	return places
}

func badCursor(q Query) error {
	return protocol.Errorf(protocol.CodeInvalidRequest, "cursor %q is none that a page of these shards has given", protocol.Echo(q.Cursor))
}
