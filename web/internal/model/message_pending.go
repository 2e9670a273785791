package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// PendingQuery is which pending entries are shown, as the page's address says it.
type PendingQuery struct {
	Stream, Group string
	// Shard is the number of one; empty shows none yet.
	Shard string
	// Consumer is the one whose entries are shown; empty is every one.
	Consumer string
	// Cursor is where the page begins, as the API gave it. Time is when it begins where there is
	// no cursor, in UTC.
	Cursor, Time string
	// Many asks for a long page.
	Many bool
}

// PendingAsk is what the API is asked for a query.
type PendingAsk struct {
	Shard            int
	Consumer, Cursor string
	Limit            int
}

// Pending is a page of what a group was given of a shard and has not acknowledged.
type Pending struct {
	Query PendingQuery
	// Home is the address of the group, Messages that of the records, Address that of this page
	// without any condition.
	Home, Messages, Address string
	// Refusal says why there are no entries; nil where there is nothing wrong.
	Refusal *Refusal
	// Asked tells that a shard was chosen and its entries are known.
	Asked bool
	Lines []PendingLine
	// Next and First are the addresses of the page that follows and of the first one; empty where
	// there is none, or this is it.
	Next, First string
}

// PendingLine is one entry.
type PendingLine struct {
	// ID is that of its record, Address the page that shows it.
	ID, Address string
	At          Stamp
	Consumer    Value
	// Of is the address of the entries of this consumer.
	Of               string
	Idle, Deliveries string
	// Tone is "warn" for one that was given to somebody again and again.
	Tone string
}

// manyDeliveries is from how many deliveries on somebody should look at a record: it is given
// again because nobody could handle it.
const manyDeliveries = 3

// NewPendingQuery makes a query of what was asked for.
func NewPendingQuery(stream, group string, value func(name string) string) PendingQuery {
	return PendingQuery{
		Stream: stream, Group: group, Shard: strings.TrimSpace(value("shard")), Consumer: value("consumer"),
		Cursor: value("cursor"), Time: strings.TrimSpace(value("time")), Many: value("limit") == strconv.Itoa(manyRecords),
	}
}

// Ask returns what to ask, or what is wrong with the query; a query without a shard asks nothing.
func (q PendingQuery) Ask() (ask PendingAsk, some bool, refusal *Refusal) {
	ask = PendingAsk{Consumer: q.Consumer, Cursor: q.Cursor, Limit: recordsShown}
	if q.Many {
		ask.Limit = manyRecords
	}
	if q.Shard == "" {
		return ask, false, nil
	}
	index, all, refusal := shardOf(q.Shard)
	if refusal != nil || all {
		return ask, false, &Refusal{Text: "A shard is a whole number, 0 or more.", Advice: "What is pending is kept for each shard: choose one."}
	}
	ask.Shard = index
	if q.Time != "" && q.Cursor == "" {
		cursor, is := cursorOf(q.Time, true)
		if !is {
			return ask, false, badTime()
		}
		ask.Cursor = cursor
	}
	return ask, true, nil
}

func (q PendingQuery) home(root string) string { return GroupPath(root, q.Stream, q.Group, "/pending") }

func (q PendingQuery) address(root string) string {
	limit := ""
	if q.Many {
		limit = strconv.Itoa(manyRecords)
	}
	return withQuery(q.home(root), "shard", q.Shard, "consumer", q.Consumer, "cursor", q.Cursor, "time", q.Time, "limit", limit)
}

// from returns the query of a page of the same kind that begins elsewhere.
func (q PendingQuery) from(cursor string) PendingQuery {
	q.Cursor, q.Time = cursor, ""
	return q
}

// NewPending makes the page for a query before anything was asked.
func NewPending(query PendingQuery, root string) Pending {
	shard := query.Shard
	if _, _, refusal := shardOf(shard); refusal != nil {
		shard = ""
	}
	return Pending{
		Query: query, Home: GroupPath(root, query.Stream, query.Group, ""), Address: query.home(root),
		Messages: MessageQuery{Stream: query.Stream, Group: query.Group, Shard: shard}.address(root),
	}
}

// With adds what the API told.
func (p Pending) With(answer protocol.PendingResponse, root string) Pending {
	p.Asked = true
	for _, entry := range answer.Entries {
		p.Lines = append(p.Lines, p.Query.line(entry, root))
	}
	if answer.NextCursor != nil && *answer.NextCursor != "" {
		p.Next = p.Query.from(*answer.NextCursor).address(root)
	}
	if p.Query.Cursor != "" || p.Query.Time != "" {
		p.First = p.Query.from("").address(root)
	}
	return p
}

func (q PendingQuery) line(entry protocol.PendingEntry, root string) PendingLine {
	of := q.from("")
	of.Consumer = entry.Consumer
	line := PendingLine{
		ID: entry.RecordID, Address: MessageQuery{Stream: q.Stream, Group: q.Group, Shard: q.Shard, ID: entry.RecordID}.address(root),
		Of: of.address(root), Idle: Age(&entry.IdleMs), Deliveries: Count(entry.DeliveryCount),
	}
	line.Consumer, _ = visible(entry.Consumer, false, nameShown)
	if entry.RecordTime != nil {
		line.At = stampOf(*entry.RecordTime)
	}
	if entry.DeliveryCount >= manyDeliveries {
		line.Tone = "warn"
	}
	return line
}
