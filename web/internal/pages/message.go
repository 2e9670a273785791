package pages

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

type messageAPI interface {
	Messages(ctx context.Context, stream, group string, shard int, query client.MessageQuery) (*protocol.StreamMessagesPageResponse, error)
	MergedMessages(ctx context.Context, stream, group string, query client.MessageQuery) ([]protocol.GrafanaMessageRow, error)
	Pending(ctx context.Context, stream, group string, shard int, query client.PendingQuery) (*protocol.PendingResponse, error)
}

// records are the pages that show what is in the streams, and what is pending of it.
func (p *Pages) records(to chi.Router) {
	to.Get(Root+"/streams/{stream}/groups/{group}/messages", p.show(p.messages))
	to.Get(Root+"/streams/{stream}/groups/{group}/pending", p.show(p.pending))
}

// messages shows records of a shard, or of all (monitoring, Console). They are read when they are
// asked for, and not kept up to date.
func (p *Pages) messages(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	query := model.NewMessageQuery(at.stream, at.group, r.URL.Query().Get)
	page, status := model.NewMessages(query, Root), http.StatusOK
	ask, refusal := query.Ask()
	if page.Refusal = refusal; refusal != nil {
		status = http.StatusBadRequest
	} else if page, err = p.messagesAsked(ctx, at, page, ask); err != nil {
		if page.Refusal, status, err = askRefused(err, page.Address); err != nil {
			return answer{}, err
		}
	}
	return answer{status: status, body: view.MessagesPage(p.frame(r, who, "Messages of "+at.stream, "overview"), page)}, nil
}

// messagesAsked adds what the API tells.
func (p *Pages) messagesAsked(ctx context.Context, at room, page model.Messages, ask model.MessageAsk) (model.Messages, error) {
	query := client.MessageQuery{Direction: ask.Direction, Cursor: ask.Cursor, RecordID: ask.RecordID, Limit: ask.Limit}
	if !ask.All {
		found, err := p.deps.API.Messages(ctx, at.stream, at.group, ask.Shard, query)
		if err != nil {
			return page, err
		}
		return page.OfShard(*found, Root), nil
	}
	rows, err := p.deps.API.MergedMessages(ctx, at.stream, at.group, query)
	if err != nil {
		return page, err
	}
	if len(rows) == 0 { // which is told of a group that is not there as well
		if _, err := p.deps.API.Migrations(ctx, at.stream, at.group); err != nil {
			return page, err
		}
	}
	return page.OfAll(rows, Root), nil
}

// askRefused says beside the form why there is nothing to show: of what was asked for, or of the
// shard. home is where to begin again. It returns the error where there is a page for it.
func askRefused(err error, home string) (*model.Refusal, int, error) {
	refusal, is := errors.AsType[*protocol.Error](err)
	if !is || refusal.Code != protocol.CodeInvalidRequest && refusal.Code != protocol.CodeNotFound {
		return nil, 0, err
	}
	said := &model.Refusal{Code: string(refusal.Code), Text: refusal.Message, Address: home, Link: "Begin again"}
	return said, protocol.FaultOf(refusal.Code).Status, nil
}
