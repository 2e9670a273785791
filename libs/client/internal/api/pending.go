package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// PendingQuery is which pending entries are asked for; empty fields take the service's defaults.
type PendingQuery struct {
	Consumer, Cursor string
	Limit            int
}

// Pending returns a page of what a shard's group was given and has not acknowledged.
func (c *Client) Pending(ctx context.Context, stream, group string, shard int, query PendingQuery) (*protocol.PendingResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/shards/" + strconv.Itoa(shard) + "/pending"}
	values := MessageQuery{Cursor: query.Cursor, Limit: query.Limit}.values(url.Values{})
	if query.Consumer != "" {
		values.Set("consumer", query.Consumer)
	}
	if len(values) > 0 {
		ref.suffix += "?" + values.Encode()
	}
	return onGroup[protocol.PendingResponse](ctx, c, http.MethodGet, ref, nil)
}
