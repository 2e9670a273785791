package store

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxEvents is the most events that one History call returns: one more than a page of
// the API, so that the page knows whether another one follows.
const MaxEvents = 1001

// Event is one entry of a record's history.
type Event struct {
	// ID orders the events of a record and is the cursor of the next History call.
	ID string
	// At is the store's clock at the write. It never falls within a history, also where
	// the clock itself went back.
	At Millis
	// Data is what the write gave as its event; it is the caller's after the call.
	Data []byte
}

// Historian reads the histories that Create, Commit and Delete append to. All stores
// implement it beside Store; it is apart because only monitoring asks.
type Historian interface {
	// History returns up to limit events of the record after the cursor, oldest first;
	// the empty cursor begins with the oldest event kept. The history outlives the
	// record: ErrNotFound only when neither of them exists, so a record without events
	// and a cursor at the end give an empty list. What was cut from the history is left
	// out silently. limit is 1 … MaxEvents: ErrInvalid otherwise, and for a cursor that
	// no store gives out.
	History(ctx context.Context, key Key, after string, limit int) ([]Event, error)
}

// Archive is a store with its histories, its repair, and the coordinators that share it.
type Archive interface {
	Store
	Historian
	Indexer
	Registry
}

// Indexer makes the index that List reads anew. All stores implement it beside Store; it
// is apart because only operators ask.
type Indexer interface {
	// RepairIndex makes List name exactly the records that are there. It may walk all keys of
	// the store. Records made or deleted meanwhile are right too.
	RepairIndex(ctx context.Context) (Repair, error)
}

// Repair tells what RepairIndex changed.
type Repair struct {
	// Added are records that the index did not name.
	Added []Key
	// Removed are entries of the index that named no record.
	Removed []string
}

// Cursor is the place of an event in its history. The zero Cursor is before all.
type Cursor struct {
	// Millis is Event.At, Sequence tells apart what happened in the same millisecond.
	Millis, Sequence uint64
}

// String returns the cursor as Event.ID.
func (c Cursor) String() string {
	return strconv.FormatUint(c.Millis, 10) + "-" + strconv.FormatUint(c.Sequence, 10)
}

// Before tells whether c comes before other.
func (c Cursor) Before(other Cursor) bool {
	return c.Millis < other.Millis || c.Millis == other.Millis && c.Sequence < other.Sequence
}

// ParseCursor reads what Cursor.String wrote; empty text is the zero Cursor. Anything
// else is ErrInvalid, the highest possible cursor included: no event has it.
func ParseCursor(text string) (Cursor, error) {
	if text == "" {
		return Cursor{}, nil
	}
	millis, sequence, _ := strings.Cut(text, "-")
	var c Cursor
	var err, errToo error
	c.Millis, err = strconv.ParseUint(millis, 10, 64)
	c.Sequence, errToo = strconv.ParseUint(sequence, 10, 64)
	highest := c.Millis == math.MaxUint64 && c.Sequence == math.MaxUint64
	if err != nil || errToo != nil || highest || c.String() != text {
		return Cursor{}, fmt.Errorf("%w: not a cursor of a history", ErrInvalid)
	}
	return c, nil
}

// CheckHistory refuses a History call that no store may accept, with ErrInvalid, and
// returns its cursor.
func CheckHistory(key Key, keyPrefix, after string, limit int) (Cursor, error) {
	if limit < 1 || limit > MaxEvents {
		return Cursor{}, fmt.Errorf("%w: a history is read by 1 to %d events, not %d", ErrInvalid, MaxEvents, limit)
	}
	cursor, err := ParseCursor(after)
	if err != nil {
		return Cursor{}, err
	}
	return cursor, key.Check(keyPrefix)
}
