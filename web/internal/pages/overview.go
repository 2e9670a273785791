package pages

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// samplesTime bounds how long a page waits for the samples of its lines.
const samplesTime = 5 * time.Second

// overview is the first page: all groups, those with problems first.
func (p *Pages) overview(ctx context.Context, r *http.Request, who visitor) (answer, error) {
	rows, err := p.deps.API.SampledGroupRows(ctx, model.RowSamples)
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
		details: p.overviewSamples,
		fragments: func(_ context.Context, r *http.Request, scene *model.Scene) ([]fragment, error) {
			page := model.NewOverview(scene.GroupRows(), overviewQuery(r), Root).WithUnreadable(scene.Unreadable, Root)
			pieces := []fragment{{"unreadable", view.Unreadable(page.Unreadable, page.MoreUnreadable)}, {"totals", view.OverviewTotals(page)}}
			if scene.Samples == nil { // the page has lines that the first round does not tell of
				return pieces, nil
			}
			return append(pieces, fragment{"groups", view.OverviewGroups(page)}), nil
		},
	}
}

// overviewSamples asks for the samples of all groups. Without them there is still what the rounds
// tell.
func (p *Pages) overviewSamples(ctx context.Context, _ room, scene *model.Scene) (learn, error) {
	if !scene.SamplesDue() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, samplesTime)
	defer cancel()
	rows, err := p.deps.API.SampledGroupRows(ctx, model.RowSamples)
	if err != nil {
		p.deps.Log.DebugContext(ctx, "the samples of the groups cannot be asked for", "reason", err)
		if scene.Samples != nil {
			return nil, err
		}
	}
	return func(s *model.Scene) *model.Scene { return s.WithSamples(rows) }, nil
}
