package redisx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Stream is a stream key as XINFO STREAM reports it.
type Stream struct {
	// Length is the number of entries that are there.
	Length int64
	// LastGeneratedID is the id of the last entry ever added, 0-0 for none.
	LastGeneratedID string
	// MaxDeletedID is the highest id that XDEL took away, 0-0 for none; empty before Redis 7.
	MaxDeletedID string
	// EntriesAdded counts all entries ever added; unknown before Redis 7.
	EntriesAdded Count
	// FirstID and LastID are those of the entries that are there, empty without any.
	FirstID, LastID string
	// EntryBytes is the mean size of names and values in the first and the last entry.
	EntryBytes int
}

// ParseStream reads a reply of XINFO STREAM as go-redis decodes it without a type. A
// stream without entries is an answer like any other (F35).
func ParseStream(reply any) (Stream, error) {
	fields, err := fieldsOf(reply)
	if err != nil {
		return Stream{}, err
	}
	var s Stream
	if s.Length, err = numberField(fields, "length"); err != nil {
		return Stream{}, err
	}
	if s.LastGeneratedID, err = textField(fields, "last-generated-id"); err != nil {
		return Stream{}, err
	}
	s.MaxDeletedID, _ = fields["max-deleted-entry-id"].(string)
	if s.EntriesAdded, err = countField(fields, "entries-added"); err != nil {
		return Stream{}, err
	}
	var sizes [2]int
	if s.FirstID, sizes[0], err = endOf(fields["first-entry"]); err != nil {
		return Stream{}, fmt.Errorf("first entry: %w", err)
	}
	if s.LastID, sizes[1], err = endOf(fields["last-entry"]); err != nil {
		return Stream{}, fmt.Errorf("last entry: %w", err)
	}
	s.EntryBytes = (sizes[0] + sizes[1]) / 2
	return s, nil
}

// endOf reads the first or last entry of a stream: its id, empty for none, and its size.
func endOf(item any) (id string, size int, err error) {
	if item == nil {
		return "", 0, nil
	}
	entry, err := entryOf(item)
	for _, text := range entry.Fields {
		size += len(text)
	}
	return entry.ID, size, err
}

// Entry is one entry of a stream. Fields are names and values in turns, in their order: a
// name may be there more than once.
type Entry struct {
	ID     string
	Fields []string
}

// ParseEntries reads a reply of XRANGE or XREVRANGE as go-redis decodes it without a type.
func ParseEntries(reply any) ([]Entry, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: entries are a %T", ErrReply, reply)
	}
	entries := make([]Entry, len(list))
	for i, item := range list {
		var err error
		if entries[i], err = entryOf(item); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return entries, nil
}

func entryOf(item any) (Entry, error) {
	pair, ok := item.([]any)
	if !ok || len(pair) != 2 {
		return Entry{}, fmt.Errorf("%w: an entry is a %T", ErrReply, item)
	}
	id, ok := pair[0].(string)
	if !ok {
		return Entry{}, fmt.Errorf("%w: an entry's id is a %T", ErrReply, pair[0])
	}
	list, ok := pair[1].([]any)
	if !ok || len(list)%2 != 0 {
		return Entry{}, fmt.Errorf("%w: the fields of entry %.64q are a %T", ErrReply, id, pair[1])
	}
	entry := Entry{ID: id, Fields: make([]string, len(list))}
	for i, text := range list {
		if entry.Fields[i], ok = text.(string); !ok {
			return Entry{}, fmt.Errorf("%w: a field of entry %.64q is a %T", ErrReply, id, text)
		}
	}
	return entry, nil
}

// Consumer is a consumer of a group as XINFO CONSUMERS reports it.
type Consumer struct {
	Name string
	// Pending is the number of entries delivered to it and not acknowledged.
	Pending int64
	// IdleMs is the time since it last asked, in milliseconds.
	IdleMs int64
}

// ParseConsumers reads a reply of XINFO CONSUMERS as go-redis decodes it without a type,
// sorted by name.
func ParseConsumers(reply any) ([]Consumer, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: consumers are a %T", ErrReply, reply)
	}
	consumers := make([]Consumer, len(list))
	for i, item := range list {
		fields, err := fieldsOf(item)
		if err != nil {
			return nil, fmt.Errorf("consumer %d: %w", i, err)
		}
		if consumers[i], err = consumerOf(fields); err != nil {
			return nil, fmt.Errorf("consumer %d: %w", i, err)
		}
	}
	slices.SortFunc(consumers, func(a, b Consumer) int { return strings.Compare(a.Name, b.Name) })
	return consumers, nil
}

func consumerOf(fields map[string]any) (Consumer, error) {
	var c Consumer
	var err error
	if c.Name, err = textField(fields, "name"); err != nil {
		return Consumer{}, err
	}
	if c.Pending, err = numberField(fields, "pending"); err != nil {
		return Consumer{}, err
	}
	idle, err := countField(fields, "idle")
	c.IdleMs, _ = idle.Value() // negative after a step of the server's clock
	return c, err
}

// IsNoKey tells whether a server says that the stream key is not there. That means
// nothing while it is still loading, which it says in other words (field case F22).
func IsNoKey(err error) bool {
	reply, ok := errors.AsType[redis.Error](err)
	return ok && reply.Error() == "ERR no such key"
}
