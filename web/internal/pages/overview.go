package pages

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// overview is the first page: all groups, those with problems first.
func (p *Pages) overview(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	rows, err := p.deps.API.GroupRows(ctx)
	if err != nil {
		return answer{}, err
	}
	page := model.NewOverview(rows, overviewQuery(r), Root)
	// The rows do not tell of groups that cannot be read. Without them the page is good all the same.
	if scene, err := p.glance(ctx); err == nil {
		page = page.WithUnreadable(scene.Unreadable, Root)
	}
	return answer{body: view.OverviewPage(p.frame(r, who, "Overview", "overview"), page)}, nil
}

func overviewQuery(r *http.Request) model.OverviewQuery {
	query := r.URL.Query()
	return model.OverviewQuery{
		Text: query.Get("q"), State: query.Get("state"), Sort: query.Get("sort"), Page: pageNumber(query.Get("at")),
	}
}

// pageNumber reads the number of a page; what is none is the first one.
func pageNumber(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return number
}

func (p *Pages) overviewKept() kept {
	return kept{
		room: func(*http.Request) room { return room{} },
		allowed: func(ctx context.Context, _ room) error {
			_, err := p.deps.API.GroupRows(ctx)
			return err
		},
		fragments: func(_ context.Context, r *http.Request, scene *model.Scene) ([]fragment, error) {
			page := model.NewOverview(slices.Collect(maps.Values(scene.Groups)), overviewQuery(r), Root).WithUnreadable(scene.Unreadable, Root)
			return []fragment{{"unreadable", view.Unreadable(page.Unreadable, page.MoreUnreadable)}, {"totals", view.OverviewTotals(page)}, {"groups", view.OverviewGroups(page)}}, nil
		},
	}
}
