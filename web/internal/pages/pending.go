package pages

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// pending shows what a group was given of a shard and has not acknowledged (monitoring, Console).
func (p *Pages) pending(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	query := model.NewPendingQuery(at.stream, at.group, r.URL.Query().Get)
	page, status := model.NewPending(query, Root), http.StatusOK
	ask, some, refusal := query.Ask()
	if refusal != nil {
		page.Refusal, status = refusal, http.StatusBadRequest
	}
	if some {
		found, err := p.deps.API.Pending(ctx, at.stream, at.group, ask.Shard, client.PendingQuery{
			Consumer: ask.Consumer, Cursor: ask.Cursor, Limit: ask.Limit,
		})
		if err == nil {
			page = page.With(*found, Root)
		} else if page.Refusal, status, err = askRefused(err, page.Address); err != nil {
			return answer{}, err
		}
	}
	return answer{status: status, body: view.PendingPage(p.frame(r, who, "Pending entries of "+at.stream, "overview"), page)}, nil
}
