package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// allShards stands for every shard of a stream, merged.
const allShards = "all"

// MessageQuery is which records are asked for; empty fields take the service's defaults.
type MessageQuery struct {
	Direction        protocol.MessageDirection
	Cursor, RecordID string
	Limit            int
}

// MonitoredGroup returns a group with what was observed of it, and so many samples; 0 is none.
func (c *Client) MonitoredGroup(ctx context.Context, stream, group string, samples int) (*protocol.MonitoredGroup, error) {
	ref := groupRef{c.base + monitoring, stream, group, ""}
	if query := sampled(samples); len(query) > 0 {
		ref.suffix = "?" + query.Encode()
	}
	return onGroup[protocol.MonitoredGroup](ctx, c, http.MethodGet, ref, nil)
}

func sampled(count int) url.Values {
	if count == 0 {
		return nil
	}
	return url.Values{"samples": {strconv.Itoa(count)}}
}

// Offsets returns the shards of a group with what is unread on them.
func (c *Client) Offsets(ctx context.Context, stream, group string) (*protocol.StreamShardOffsetsResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/offsets"}
	return onGroup[protocol.StreamShardOffsetsResponse](ctx, c, http.MethodGet, ref, nil)
}

// Consumption returns what the members of a group say they have read.
func (c *Client) Consumption(ctx context.Context, stream, group string) (*protocol.ConsumptionProgressResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/consumption"}
	return onGroup[protocol.ConsumptionProgressResponse](ctx, c, http.MethodGet, ref, nil)
}

// GroupRows returns all groups as flat rows, with so many samples of each; 0 is none.
func (c *Client) GroupRows(ctx context.Context, samples int) ([]protocol.GrafanaGroupRow, error) {
	return rows[protocol.GrafanaGroupRow](ctx, c, "groups", sampled(samples))
}

// ShardRows returns the shards of a group as flat rows; empty names are no condition.
func (c *Client) ShardRows(ctx context.Context, stream, group string) ([]protocol.GrafanaShardRow, error) {
	return rows[protocol.GrafanaShardRow](ctx, c, "shards", namesOf(stream, group))
}

// Messages returns a page of the records of one shard.
func (c *Client) Messages(
	ctx context.Context, stream, group string, shard int, query MessageQuery,
) (*protocol.StreamMessagesPageResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/shards/" + strconv.Itoa(shard) + "/messages"}
	if values := query.values(url.Values{}); len(values) > 0 {
		ref.suffix += "?" + values.Encode()
	}
	return onGroup[protocol.StreamMessagesPageResponse](ctx, c, http.MethodGet, ref, nil)
}

// MergedMessages returns a page of the records of all shards as flat rows.
func (c *Client) MergedMessages(
	ctx context.Context, stream, group string, query MessageQuery,
) ([]protocol.GrafanaMessageRow, error) {
	values := namesOf(stream, group)
	values.Set("shardIndex", allShards)
	return rows[protocol.GrafanaMessageRow](ctx, c, "messages", query.values(values))
}

func (q MessageQuery) values(values url.Values) url.Values {
	for name, text := range map[string]string{"direction": string(q.Direction), "cursor": q.Cursor, "recordId": q.RecordID} {
		if text != "" {
			values.Set(name, text)
		}
	}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}

func namesOf(stream, group string) url.Values {
	return url.Values{"streamPrefix": {stream}, "consumerGroup": {group}}
}

func rows[T any](ctx context.Context, c *Client, kind string, query url.Values) ([]T, error) {
	at := c.base + monitoring + "/grafana/" + kind
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	found, err := roundTrip[[]T](ctx, c, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	return *found, nil
}
