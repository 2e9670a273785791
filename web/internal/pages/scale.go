package pages

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

const (
	// maxForm is how large a form may be in bytes; the gateway lets no larger one through.
	maxForm = 64 << 10
	// planReason is the reason of a plan, which the API asks for as well though nothing is changed.
	planReason = "plan shown by the console"
)

type scaleAPI interface {
	Group(ctx context.Context, stream, group string) (*protocol.GroupResponse, error)
	PlanScale(ctx context.Context, stream string, req protocol.ScaleRequest) (*protocol.Plan, error)
	// Once returns the API whose changes are carried out once under a key.
	Once(key string) (*client.Admin, error)
}

// reshardings are the pages that change shard counts and tell of such changes.
func (p *Pages) reshardings(to chi.Router) {
	const group, one = Root + "/streams/{stream}/groups/{group}", Root + "/streams/{stream}/groups/{group}/migrations/{id}"
	to.Get(group+"/scale", p.show(p.scale))
	to.Post(group+"/scale", p.show(p.scaled))
	to.Get(group+"/migrations", p.show(p.migrations))
	to.Get(one, p.show(p.migration))
	to.Get(one+"/rollback", p.show(p.rollback))
	to.Post(one+"/rollback", p.show(p.rolledBack))
	to.Get(one+"/confirm-drain", p.show(p.confirmDrain))
	to.Post(one+"/confirm-drain", p.show(p.confirmedDrain))
}

// scale shows the form for another shard count, and with a count its plan (L11).
func (p *Pages) scale(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	query := r.URL.Query()
	page, err := p.newScale(ctx, at, query.Get("to"), model.Typed{Once: rand.Text()})
	if err != nil {
		return answer{}, err
	}
	if _, is := page.Count(); is && mayChange(who) {
		page, err = p.planScale(ctx, at, who, page, pageNumber(query.Get("at")))
		if err != nil {
			return answer{}, err
		}
	}
	return p.scalePage(r, who, page, statusOf(page.ToRefusal)), nil
}

// scaled changes the shard count where the plan is still the one that was confirmed (L1, L11).
// The API decides who may: it is asked for the plan in any case.
func (p *Pages) scaled(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	at, err := groupAsked(r)
	if err != nil {
		return answer{}, err
	}
	typed, err := typedOf(r)
	if err != nil {
		return answer{}, err
	}
	page, err := p.newScale(ctx, at, r.PostForm.Get("to"), typed)
	if err != nil {
		return answer{}, err
	}
	count, is := page.Count()
	if !is {
		page.ToRefusal = "Type a whole number, 0 or more."
		return p.scalePage(r, who, page, http.StatusBadRequest), nil
	}
	if page, err = p.planScale(ctx, at, who, page, 1); err != nil {
		return answer{}, err
	}
	if page.Plan == nil {
		return p.scalePage(r, who, page, http.StatusBadRequest), nil
	}
	page, good := page.Confirmed()
	switch {
	case good:
		return p.doScale(ctx, r, who, page, count)
	case !page.Confirm.Good():
		page.Stale = false // one thing after the other
		return p.scalePage(r, who, page, http.StatusBadRequest), nil
	}
	return p.scaleStale(ctx, r, who, at, page, count)
}

// newScale makes the page of a group for what was typed.
func (p *Pages) newScale(ctx context.Context, at room, to string, typed model.Typed) (model.Scale, error) {
	group, err := p.deps.API.Group(ctx, at.stream, at.group)
	if err != nil {
		return model.Scale{}, err
	}
	group.StreamPrefix, group.ConsumerGroup = at.stream, at.group
	return model.NewScale(*group, to, typed, Root), nil
}

// planScale adds the plan, or why there is none for the count.
func (p *Pages) planScale(ctx context.Context, at room, who visitor, page model.Scale, shown int) (model.Scale, error) {
	count, _ := page.Count()
	plan, err := p.deps.API.PlanScale(ctx, at.stream, protocol.ScaleRequest{
		TargetShardCount: &count, RequestedBy: who.principal.Name, Reason: planReason,
	})
	if refusal, is := errors.AsType[*protocol.Error](err); is && refusal.Code == protocol.CodeInvalidRequest {
		page.ToRefusal = refusal.Message
		return page, nil
	}
	if err != nil {
		return page, err
	}
	return page.Planned(*plan, shown), nil
}

// doScale sends the change.
func (p *Pages) doScale(ctx context.Context, r *http.Request, who visitor, page model.Scale, count int) (answer, error) {
	said, err := once(ctx, p.deps.API, page.Confirm.Typed.Once, func(api *client.Admin) (*protocol.StreamScaleResponse, error) {
		return api.Scale(ctx, page.Stream, protocol.ScaleRequest{
			TargetShardCount: &count, RequestedBy: who.principal.Name, Reason: page.Confirm.Typed.Reason,
		})
	})
	if err != nil {
		refusal, status, err := refusalOf(err)
		if err != nil {
			return answer{}, err
		}
		page.Confirm.Typed = renewed(page.Confirm.Typed, refusal)
		return p.scalePage(r, who, page.Refused(refusal), status), nil
	}
	if len(said.Migrations) == 0 || said.Migrations[0].ReshardingID == protocol.NoopReshardingID {
		return see(model.WithDone(page.All, "noop")), nil
	}
	return see(model.WithDone(model.MigrationPath(Root, page.Stream, page.Group, said.Migrations[0].ReshardingID), "scaled")), nil
}

// scaleStale shows the new plan, or what was begun by the same form before. It looks again at what
// is under way, as that may have begun since the page was made.
func (p *Pages) scaleStale(ctx context.Context, r *http.Request, who visitor, at room, page model.Scale, count int) (answer, error) {
	group, err := p.deps.API.Group(ctx, at.stream, at.group)
	if err != nil {
		return answer{}, err
	}
	if active := group.ActiveMigration; model.SameOrder(active, count, who.principal.Name, page.Confirm.Typed.Reason) {
		return see(model.WithDone(model.MigrationPath(Root, at.stream, at.group, active.ReshardingID), "same")), nil
	}
	return p.scalePage(r, who, page, http.StatusConflict), nil
}

func (p *Pages) scalePage(r *http.Request, who visitor, page model.Scale, status int) answer {
	return answer{status: status, body: view.ScalePage(p.frame(r, who, "Shard count of "+page.Stream, "overview"), page)}
}

// statusOf is the status of a page that says what is wrong with what was asked for, or nothing.
func statusOf(refusal string) int {
	if refusal != "" {
		return http.StatusBadRequest
	}
	return http.StatusOK
}
