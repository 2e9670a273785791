package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The calls of this file are answered by the monitor, reached through the gateway. They read
// what it observed last, at most one of its intervals ago (5 s), and cost Redis nothing; only
// messages are read from Redis when they are asked for. Without a monitor they are refused
// with NOT_FOUND or UPSTREAM_UNAVAILABLE.

// MessageQuery is which records are asked for.
type MessageQuery struct {
	// Direction is in which order; empty is protocol.DirectionBackward, newest first.
	Direction protocol.MessageDirection
	// Cursor is where the page begins, as the page before said; empty begins at the end that
	// Direction comes from.
	Cursor string
	// RecordID asks for one record, and for no other.
	RecordID string
	// Limit is 1 … protocol.MaxMessages; 0 takes protocol.DefaultMessages.
	Limit int
}

// MonitoredGroup returns one group with what was observed of its shards, and with what is
// wrong with it. Values that nobody knows are nil.
func (a *Admin) MonitoredGroup(ctx context.Context, stream, group string) (*protocol.MonitoredGroup, error) {
	return a.api.MonitoredGroup(ctx, stream, group, 0)
}

// SampledGroup is MonitoredGroup with so many samples of the last minutes, 1 …
// protocol.MaxSamples; 0 is none. A monitor that is older tells none.
func (a *Admin) SampledGroup(ctx context.Context, stream, group string, samples int) (*protocol.MonitoredGroup, error) {
	return a.api.MonitoredGroup(ctx, stream, group, samples)
}

// Offsets returns the shards of a group with length, lag, pending, rates and owners.
func (a *Admin) Offsets(ctx context.Context, stream, group string) (*protocol.StreamShardOffsetsResponse, error) {
	return a.api.Offsets(ctx, stream, group)
}

// Consumption returns what the members of a group say of their shards.
func (a *Admin) Consumption(ctx context.Context, stream, group string) ([]protocol.ConsumerShardProgress, error) {
	answer, err := a.api.Consumption(ctx, stream, group)
	if err != nil {
		return nil, err
	}
	return answer.Progress, nil
}

// GroupRows returns the groups at a glance, one flat row each: those of all streams that the
// caller's scopes reach.
func (a *Admin) GroupRows(ctx context.Context) ([]protocol.GrafanaGroupRow, error) {
	return a.api.GroupRows(ctx, 0)
}

// SampledGroupRows is GroupRows with so many samples of each group, as SampledGroup has them.
func (a *Admin) SampledGroupRows(ctx context.Context, samples int) ([]protocol.GrafanaGroupRow, error) {
	return a.api.GroupRows(ctx, samples)
}

// ShardRows returns the shards of a group, one flat row each, with who has them and who is
// wanted to. Empty names are no condition.
func (a *Admin) ShardRows(ctx context.Context, stream, group string) ([]protocol.GrafanaShardRow, error) {
	return a.api.ShardRows(ctx, stream, group)
}

// Messages returns a page of the records of one shard. Values are cut after
// protocol.MaxMessagePayload bytes.
func (a *Admin) Messages(
	ctx context.Context, stream, group string, shard int, query MessageQuery,
) (*protocol.StreamMessagesPageResponse, error) {
	return a.api.Messages(ctx, stream, group, shard, api.MessageQuery(query))
}

// MergedMessages returns a page of the records of all shards, in the order of their ids. Every
// row has the cursor of the next page; there is none when it is nil, or without rows.
func (a *Admin) MergedMessages(
	ctx context.Context, stream, group string, query MessageQuery,
) ([]protocol.GrafanaMessageRow, error) {
	return a.api.MergedMessages(ctx, stream, group, api.MessageQuery(query))
}
