package pages

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// rollback shows what undoing a resharding would do, and the form for it (L8, L11).
func (p *Pages) rollback(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	page := model.NewRollback(at.stream, at.group, pathValue(r, "id"), model.Typed{Once: rand.Text()}, Root)
	if mayChange(who) {
		page, err = p.planRollback(ctx, who, page, pageNumber(r.URL.Query().Get("at")))
	} else {
		err = p.mayLook(ctx, at)
	}
	if err != nil {
		return answer{}, err
	}
	return p.rollbackPage(r, who, page, http.StatusOK), nil
}

// rolledBack undoes a resharding where the plan is still the one that was confirmed. The API
// decides who may: it is asked for the plan in any case.
func (p *Pages) rolledBack(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	typed, err := typedOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := p.planRollback(ctx, who, model.NewRollback(at.stream, at.group, pathValue(r, "id"), typed, Root), 1)
	if err != nil {
		return answer{}, err
	}
	page, good := page.Confirmed()
	switch {
	case good:
		return p.doRollback(ctx, r, who, page)
	case !page.Confirm.Good():
		page.Stale = false // one thing after the other
		return p.rollbackPage(r, who, page, http.StatusBadRequest), nil
	default:
		return p.rollbackStale(ctx, r, who, page)
	}
}

func (p *Pages) planRollback(ctx context.Context, who visitor, page model.Rollback, shown int) (model.Rollback, error) {
	plan, err := p.deps.API.PlanRollback(ctx, page.Stream, page.Group, page.ID, protocol.RollbackRequest{
		RequestedBy: who.principal.Name, Reason: planReason,
	})
	if err != nil {
		return page, noMigration(err)
	}
	return page.Planned(*plan, shown), nil
}

func (p *Pages) doRollback(ctx context.Context, r *http.Request, who visitor, page model.Rollback) (answer, error) {
	_, err := once(ctx, p.deps.API, page.Confirm.Typed.Once, func(api *client.Admin) (*protocol.Migration, error) {
		return api.Rollback(ctx, page.Stream, page.Group, page.ID, protocol.RollbackRequest{
			RequestedBy: who.principal.Name, Reason: page.Confirm.Typed.Reason,
		})
	})
	if err != nil {
		refusal, status, err := refusalOf(err)
		if err != nil {
			return answer{}, err
		}
		page.Confirm.Typed = renewed(page.Confirm.Typed, refusal)
		return p.rollbackPage(r, who, page.Refused(refusal), status), nil
	}
	return see(model.WithDone(page.Back, "rolledback")), nil
}

// rollbackStale shows the new plan, or the resharding where it is being undone already.
func (p *Pages) rollbackStale(ctx context.Context, r *http.Request, who visitor, page model.Rollback) (answer, error) {
	seen, err := p.deps.API.Migration(ctx, page.Stream, page.Group, page.ID)
	switch {
	case err != nil:
		return answer{}, err
	case seen.State == protocol.MigrationRollingBack || seen.State == protocol.MigrationRolledBack:
		return see(model.WithDone(page.Back, "rolledback")), nil
	default:
		return p.rollbackPage(r, who, page, http.StatusConflict), nil
	}
}

func (p *Pages) rollbackPage(r *http.Request, who visitor, page model.Rollback, status int) answer {
	return answer{status: status, body: view.RollbackPage(p.frame(r, who, "Roll back a resharding of "+page.Stream, "overview"), page)}
}

// confirmDrain shows a removed shard, and the form to vouch for it (L9).
func (p *Pages) confirmDrain(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	page, err := p.newConfirmDrain(ctx, r, r.URL.Query().Get("shard"), model.Typed{Once: rand.Text()})
	if err != nil {
		return answer{}, err
	}
	return p.confirmDrainPage(r, who, page, http.StatusOK), nil
}

// confirmedDrain takes an operator's word for a removed shard.
func (p *Pages) confirmedDrain(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	typed, err := typedOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := p.newConfirmDrain(ctx, r, r.PostForm.Get("shard"), typed)
	if err != nil {
		return answer{}, err
	}
	var good bool
	if page.Confirm, good = page.Confirm.Checked(); !good || !page.Found {
		return p.confirmDrainPage(r, who, page, http.StatusBadRequest), nil
	}
	_, err = once(ctx, p.deps.API, typed.Once, func(api *client.Admin) (*protocol.Migration, error) {
		return api.ConfirmDrain(ctx, page.Stream, page.Group, page.ID, protocol.ConfirmDrainRequest{
			ShardIndex: &page.Shard, RequestedBy: who.principal.Name, Reason: typed.Reason,
		})
	})
	if err != nil {
		refusal, status, err := refusalOf(err)
		if err != nil {
			return answer{}, err
		}
		page.Confirm.Typed = renewed(typed, refusal)
		return p.confirmDrainPage(r, who, page.Refused(refusal), status), nil
	}
	return see(model.WithDone(page.Back, "confirmed")), nil
}

func (p *Pages) newConfirmDrain(ctx context.Context, r *http.Request, shard string, typed model.Typed) (model.ConfirmDrain, error) {
	at, err := groupAsked(r)
	if err != nil {
		return model.ConfirmDrain{}, err
	}
	seen, err := p.deps.API.Migration(ctx, at.stream, at.group, pathValue(r, "id"))
	if err != nil {
		return model.ConfirmDrain{}, noMigration(err)
	}
	return model.NewConfirmDrain(*seen, migrationQuery(r, at), shard, typed, Root), nil
}

func (p *Pages) confirmDrainPage(r *http.Request, who visitor, page model.ConfirmDrain, status int) answer {
	return answer{status: status, body: view.ConfirmDrainPage(p.frame(r, who, "Confirm a shard of "+page.Stream, "overview"), page)}
}
