package model

import (
	"maps"
	"slices"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// How much of records is shown. Sizes are bytes of the page.
const (
	// listBytes is for all records of a page together, fieldsListed and valueListed are for one.
	listBytes    = 200_000
	fieldsListed = 100
	valueListed  = 4 << 10
	// wholeBytes, fieldsWhole and valueWhole are for a record that is shown in full: all that the
	// API tells of it.
	wholeBytes  = 1 << 20
	fieldsWhole = 1000
	valueWhole  = wholeBytes
	// fieldBytes is about what a field takes besides its name and value.
	fieldBytes = 120
	// ValueKept is after how many kilobytes the API cuts a value.
	ValueKept = protocol.MaxMessagePayload >> 10
	// nameShown is how much of the name of a field is shown.
	nameShown = 256
)

// Messages is a page of records.
type Messages struct {
	Query MessageQuery
	// Home is the address of the group, Address that of the records without any condition,
	// Pending that of what is delivered and not acknowledged.
	Home, Address, Pending string
	// Refusal says why there are no records; nil where there is nothing wrong.
	Refusal *Refusal
	Records []Record
	// Whole tells that there is one record, in full.
	Whole bool
	// Total is how many records the shards have, empty where nobody counted them.
	Total string
	// Older and Newer are the addresses of what lies before and after, First of the end that the
	// page's direction comes from; empty where there is nothing more.
	Older, Newer, First string
}

// Record is one record.
type Record struct {
	ID, Shard string
	// Address is that of the page that shows it in full.
	Address string
	At      Stamp
	Fields  []RecordField
	// Hidden is how many fields are not shown.
	Hidden int
}

// RecordField is one field of a record.
type RecordField struct{ Name, Value Value }

// NewMessages makes the page for a query before anything was asked.
func NewMessages(query MessageQuery, root string) Messages {
	page := Messages{Query: query, Home: GroupPath(root, query.Stream, query.Group, ""), Address: query.home(root)}
	page.Pending = withQuery(GroupPath(root, query.Stream, query.Group, "/pending"), "shard", query.Shard)
	return page
}

// OfShard adds a page of one shard.
func (m Messages) OfShard(answer protocol.StreamMessagesPageResponse, root string) Messages {
	return m.with(answer.Records, answer.NextCursor, root)
}

// OfAll adds a page of all shards. Every row has the cursor of the next page.
func (m Messages) OfAll(rows []protocol.GrafanaMessageRow, root string) Messages {
	records := make([]protocol.StreamMessageRecord, len(rows))
	var next *string
	for i, row := range rows {
		next = row.PageNextCursor
		m.Total = Count(row.PageTotalMessages)
		records[i] = protocol.StreamMessageRecord{
			Shard: protocol.ShardID{ShardIndex: row.ShardIndex}, RecordID: row.RecordID, Fields: fieldsOf(row),
			RecordTime: row.RecordTime, Base64Fields: row.Base64Fields, CutFields: row.CutFields,
		}
	}
	return m.with(records, next, root)
}

func (m Messages) with(records []protocol.StreamMessageRecord, next *string, root string) Messages {
	m.Whole = m.Query.ID != "" && len(records) == 1
	show := budget{listBytes / max(1, len(records)), fieldsListed, valueListed}
	if m.Whole {
		show = budget{wholeBytes, fieldsWhole, valueWhole}
	}
	m.Records = make([]Record, len(records))
	for i, record := range records {
		m.Records[i] = m.Query.record(record, show, root)
	}
	if m.Query.ID == "" {
		m.link(records, next, root)
	} else if m.Whole {
		m.around(records[0], root)
	}
	return m
}

// link leads on by the cursor that the API gave, and back from the first record that is shown.
func (m *Messages) link(records []protocol.StreamMessageRecord, next *string, root string) {
	query := m.Query
	var on, back string
	if next != nil && *next != "" {
		on = query.from(*next, query.Forward).address(root)
	}
	if len(records) > 0 {
		if id, is := parseRecordID(records[0].RecordID); is {
			back = query.from(query.backFrom(id), !query.Forward).address(root)
		}
	}
	m.Older, m.Newer = on, back
	if query.Forward {
		m.Older, m.Newer = back, on
	}
	if query.Cursor != "" || query.Time != "" {
		m.First = query.from("", query.Forward).address(root)
	}
}

// backFrom returns where to begin to go the other way from a record. Over all shards it comes
// again, as others may have its id.
func (q MessageQuery) backFrom(id recordID) string {
	if q.Shard != "" {
		return id.text()
	}
	return id.cursorAt(!q.Forward)
}

// around leads from one record to those of its shard before and after it.
func (m *Messages) around(record protocol.StreamMessageRecord, root string) {
	query := m.Query
	query.Shard = strconv.Itoa(record.Shard.ShardIndex)
	m.Older = query.from(record.RecordID, false).address(root)
	m.Newer = query.from(record.RecordID, true).address(root)
}

// budget bounds what is shown of a record: bytes of the page, fields, and bytes of a value.
type budget struct{ bytes, fields, value int }

func (q MessageQuery) record(from protocol.StreamMessageRecord, show budget, root string) Record {
	shard := strconv.Itoa(from.Shard.ShardIndex)
	made := Record{
		ID: from.RecordID, Shard: shard,
		Address: MessageQuery{Stream: q.Stream, Group: q.Group, Shard: shard, ID: from.RecordID}.address(root),
	}
	if from.RecordTime != nil {
		made.At = stampOf(*from.RecordTime)
	}
	left := show.bytes
	for _, name := range slices.Sorted(maps.Keys(from.Fields)) {
		if len(made.Fields) == show.fields || left <= fieldBytes {
			made.Hidden = len(from.Fields) - len(made.Fields)
			break
		}
		left -= fieldBytes
		field, used := fieldOf(from, name, show.value, left)
		left -= used
		made.Fields = append(made.Fields, field)
	}
	return made
}

// fieldOf makes a field within so many bytes, and returns how many it takes.
func fieldOf(from protocol.StreamMessageRecord, name string, most, left int) (RecordField, int) {
	var field RecordField
	var ofName, ofValue int
	field.Name, ofName = visible(name, false, min(nameShown, left))
	text, lines := from.Fields[name], false
	_, binary := slices.BinarySearch(from.Base64Fields, name)
	_, cut := slices.BinarySearch(from.CutFields, name)
	if !binary && !cut {
		if written, is := pretty(text); is {
			text, lines = written, true
		}
	}
	field.Value, ofValue = visible(text, true, min(most, left-ofName))
	field.Value.JSON, field.Value.Binary, field.Value.Cut = lines, binary, cut
	return field, ofName + ofValue
}
