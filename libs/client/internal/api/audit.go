package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// AuditQuery is which records of the audit are asked for; empty fields are no condition.
type AuditQuery struct {
	StreamPrefix, ConsumerGroup, Principal string
	From, To                               time.Time
	Cursor                                 string
	Limit                                  int
}

// Audit reads a page of the gateway's audit.
func (c *Client) Audit(ctx context.Context, query AuditQuery) (*protocol.AuditResponse, error) {
	at := c.base + "/audit"
	if values := query.values(); len(values) > 0 {
		at += "?" + values.Encode()
	}
	return roundTrip[protocol.AuditResponse](ctx, c, http.MethodGet, at, nil)
}

func (q AuditQuery) values() url.Values {
	values := url.Values{}
	for name, text := range map[string]string{
		"streamPrefix": q.StreamPrefix, "consumerGroup": q.ConsumerGroup, "principal": q.Principal, "cursor": q.Cursor,
	} {
		if text != "" {
			values.Set(name, text)
		}
	}
	for name, at := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !at.IsZero() {
			values.Set(name, at.UTC().Format(time.RFC3339Nano))
		}
	}
	if q.Limit != 0 {
		values.Set("limit", strconv.Itoa(q.Limit))
	}
	return values
}
