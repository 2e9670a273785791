package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// allShards is the shard of a query that asks for all of them, as an empty one does.
	allShards = "all"
	// maxShardIndex bounds shard indexes; the API allows no higher one.
	maxShardIndex = 1 << 20
	// recordsShown and manyRecords are the sizes of a page.
	recordsShown, manyRecords = protocol.DefaultMessages, 100
)

// MessageQuery is which records are shown, as the page's address says it.
type MessageQuery struct {
	Stream, Group string
	// Shard is the number of one; empty is all, merged by id.
	Shard string
	// Forward is from the oldest on; else the newest come first.
	Forward bool
	// Cursor is where the page begins, as the API gave it. Time is when it begins where there is
	// no cursor, in UTC.
	Cursor, Time string
	// ID asks for one record, in full.
	ID string
	// Many asks for a long page.
	Many bool
}

// MessageAsk is what the API is asked for a query.
type MessageAsk struct {
	// Shard is the one that is asked, All tells that they all are.
	Shard            int
	All              bool
	Direction        protocol.MessageDirection
	Cursor, RecordID string
	Limit            int
}

// Ask returns what to ask, or what is wrong with the query. Cursors and ids are passed on as they
// are: the API says which are none.
func (q MessageQuery) Ask() (MessageAsk, *Refusal) {
	ask := MessageAsk{Direction: protocol.DirectionBackward, Cursor: q.Cursor, RecordID: q.ID, Limit: recordsShown}
	if q.Forward {
		ask.Direction = protocol.DirectionForward
	}
	if q.Many {
		ask.Limit = manyRecords
	}
	var refusal *Refusal
	if ask.Shard, ask.All, refusal = shardOf(q.Shard); refusal != nil {
		return ask, refusal
	}
	if q.Time != "" && q.Cursor == "" && q.ID == "" {
		cursor, is := cursorOf(q.Time, q.Forward)
		if !is {
			return ask, badTime()
		}
		ask.Cursor = cursor
	}
	return ask, nil
}

// shardOf reads which shard is meant.
func shardOf(text string) (index int, all bool, refusal *Refusal) {
	if text == "" || text == allShards {
		return 0, true, nil
	}
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index > maxShardIndex {
		return 0, false, &Refusal{Text: "A shard is a whole number, 0 or more.", Advice: "Leave it empty to see the records of all shards."}
	}
	return index, false, nil
}

func badTime() *Refusal {
	return &Refusal{Text: "This is no time since 1970.", Advice: "Type it like 2026-01-31T23:59:59, in UTC."}
}

func (q MessageQuery) home(root string) string {
	return GroupPath(root, q.Stream, q.Group, "/messages")
}

// address returns the address of the page with these records.
func (q MessageQuery) address(root string) string {
	direction, limit := "", ""
	if q.Forward {
		direction = string(protocol.DirectionForward)
	}
	if q.Many {
		limit = strconv.Itoa(manyRecords)
	}
	return withQuery(q.home(root), "shard", q.Shard, "direction", direction, "cursor", q.Cursor, "time", q.Time, "id", q.ID, "limit", limit)
}

// from returns the query of a page of the same kind that begins elsewhere.
func (q MessageQuery) from(cursor string, forward bool) MessageQuery {
	q.Cursor, q.Forward, q.Time, q.ID = cursor, forward, "", ""
	return q
}

// NewMessageQuery makes a query of what was asked for.
func NewMessageQuery(stream, group string, value func(name string) string) MessageQuery {
	q := MessageQuery{
		Stream: stream, Group: group, Shard: strings.TrimSpace(value("shard")), Forward: value("direction") == string(protocol.DirectionForward),
		Cursor: value("cursor"), Time: strings.TrimSpace(value("time")), ID: strings.TrimSpace(value("id")),
		Many: value("limit") == strconv.Itoa(manyRecords),
	}
	if q.Shard == allShards {
		q.Shard = ""
	}
	return q
}
