package app

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

// reader implements httpapi.Messages.
type reader struct{ from *messages.Reader }

func (r reader) Page(ctx context.Context, ask httpapi.Ask) (protocol.StreamMessagesPageResponse, error) {
	return r.from.Page(ctx, messages.Query(ask))
}

func (r reader) Rows(ctx context.Context, ask httpapi.Ask) ([]protocol.GrafanaMessageRow, error) {
	return r.from.Rows(ctx, messages.Query(ask))
}

func (r reader) Pending(ctx context.Context, ask httpapi.AskPending) (protocol.PendingResponse, error) {
	return r.from.Pending(ctx, messages.PendingQuery(ask))
}
