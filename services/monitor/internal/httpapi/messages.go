package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

const (
	// maxCursor is how long a cursor may be, in bytes: a record id of every shard of a stream
	// fits into the head of a request.
	maxCursor = 32 << 10
	// maxRecordID is how long a record id may be, in bytes: two numbers up to 2^64.
	maxRecordID = 41
)

// Ask says which page of records is wanted.
type Ask struct {
	Stream, Group string
	// Shards are those that are read, in order; AllShards tells that they are merged, which a
	// cursor then says too.
	Shards    []facts.Shard
	AllShards bool
	Direction protocol.MessageDirection
	// Cursor is where the page begins, as an answer gave it; empty is the end that Direction
	// comes from.
	Cursor string
	// RecordID asks for one record and no other; empty asks for a page.
	RecordID string
	// Limit is 1 … 1000.
	Limit int
}

// Messages reads records of shards. Refusals are *protocol.Error: INVALID_REQUEST for a cursor
// or id that is none.
type Messages interface {
	// Page reads a page of the first of ask.Shards.
	Page(ctx context.Context, ask Ask) (protocol.StreamMessagesPageResponse, error)
	// Rows reads a page as dashboards have it.
	Rows(ctx context.Context, ask Ask) ([]protocol.GrafanaMessageRow, error)
	// Pending reads a page of what a shard's group was given and has not acknowledged. NOT_FOUND
	// where the shard has no such group, or is no stream.
	Pending(ctx context.Context, ask AskPending) (protocol.PendingResponse, error)
}

// messagePage answers a page of the shard that the path names.
func (a *api) messagePage(ctx context.Context, r *http.Request) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(r)
	if err != nil {
		return nil, err
	}
	ask, err := askOf(values, at)
	if err != nil {
		return nil, err
	}
	shard, err := a.shardAt(ctx, at, now)
	if err != nil {
		return nil, err
	}
	ask.Shards = []facts.Shard{shard}
	return a.Messages.Page(ctx, ask)
}

// grafanaMessages answers rows of one shard or of all. An empty name, a group or a shard that
// is not there gives none.
func (a *api) grafanaMessages(ctx context.Context, r *http.Request) (any, error) {
	at, err := a.required(r)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(r)
	if err != nil {
		return nil, err
	}
	ask, err := askOf(values, at)
	if err != nil {
		return nil, err
	}
	wanted, err := selected(values, &ask)
	if err != nil {
		return nil, err
	}
	now, err := a.look()
	if err != nil {
		return nil, err
	}
	if has(now.Round, at) {
		ask.Shards = shardsOf(now.Round, at.stream, wanted)
	}
	if len(ask.Shards) == 0 { // a dashboard asks before its variables are chosen
		return []protocol.GrafanaMessageRow{}, nil
	}
	found, err := a.Messages.Rows(ctx, ask)
	return orEmpty(found), err
}

// selected reads which shards a dashboard has chosen: an index, or one of the words for all.
func selected(values url.Values, ask *Ask) (func(facts.Shard) bool, error) {
	text := values.Get(shardParameter)
	if slices.Contains([]string{"all", ".*", "__all", "$__all"}, text) {
		ask.AllShards = true
		return func(facts.Shard) bool { return true }, nil
	}
	if text == "" {
		text = "0"
	}
	index, err := shardIndex(text)
	return func(s facts.Shard) bool { return s.Index == index }, err
}

// askOf reads the query of a page.
func askOf(values url.Values, at place) (Ask, error) {
	ask := Ask{
		Stream: at.stream, Group: at.group, Direction: protocol.DirectionBackward, Limit: protocol.DefaultMessages,
		Cursor: values.Get(cursorParameter), RecordID: values.Get(recordParameter),
	}
	switch text := values.Get(directionParameter); text {
	case "", string(protocol.DirectionBackward):
	case string(protocol.DirectionForward):
		ask.Direction = protocol.DirectionForward
	default:
		return Ask{}, invalid("direction must be %s or %s, not %q", protocol.DirectionForward, protocol.DirectionBackward, protocol.Echo(text))
	}
	if len(ask.Cursor) > maxCursor {
		return Ask{}, invalid("cursor has more than %d bytes", maxCursor)
	}
	if len(ask.RecordID) > maxRecordID {
		return Ask{}, invalid("recordId is not an id like 1700000000000-0")
	}
	limit, err := limitOf(values.Get(limitParameter))
	ask.Limit = limit
	return ask, err
}

// limitOf moves a number into what is allowed; what is no number is refused.
func limitOf(text string) (int, error) {
	if text == "" {
		return protocol.DefaultMessages, nil
	}
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, invalid("limit %q is not a number", protocol.Echo(text))
	}
	switch digits = strings.TrimLeft(digits, "0"); {
	case strings.HasPrefix(text, "-"), digits == "":
		return 1, nil
	case len(digits) > len(strconv.Itoa(protocol.MaxMessages)):
		return protocol.MaxMessages, nil
	}
	limit, err := strconv.Atoi(digits)
	return min(limit, protocol.MaxMessages), err
}

// shardsOf returns the shards of a stream that are wanted, by index.
func shardsOf(round facts.Round, prefix string, wanted func(facts.Shard) bool) []facts.Shard {
	var found []facts.Shard
	for _, stream := range round.Streams {
		if stream.Prefix != prefix {
			continue
		}
		for _, shard := range stream.Shards {
			if wanted(shard) {
				found = append(found, shard)
			}
		}
	}
	return found
}
