package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// The rows for dashboards follow the rules of the metric names: a filter is present but may be
// empty, and what is about one group gives no rows where that is not named.

func (a *api) grafanaGroups(ctx context.Context, r *http.Request) (any, error) {
	count, err := samplesAsked(r)
	if err != nil {
		return nil, err
	}
	now, err := a.lookFor(ctx)
	if err != nil {
		return nil, err
	}
	rows := groupRows(now)
	for i := range rows {
		rows[i].Samples = now.samples(rows[i].StreamPrefix, rows[i].ConsumerGroup, count)
	}
	return rows, nil
}

// groupRows returns a row for each group that can be shown: the state of the others is none
// of those that dashboards know.
func groupRows(now Look) []protocol.GrafanaGroupRow {
	all := views.GrafanaGroups(now.Round, now.Snapshot)
	return orEmpty(slices.DeleteFunc(all, func(row protocol.GrafanaGroupRow) bool { return row.State == "" }))
}

// grafanaShards takes an empty part for no filter.
func (a *api) grafanaShards(_ context.Context, r *http.Request) (any, error) {
	return rows(a, r, func(now Look, at place) any {
		return orEmpty(views.GrafanaShards(now.Round, now.Snapshot, at.stream, at.group))
	})
}

func (a *api) grafanaMembers(_ context.Context, r *http.Request) (any, error) {
	return rows(a, r, func(now Look, at place) any { return orEmpty(views.GrafanaMembers(now.Round, at.stream, at.group)) })
}

func (a *api) grafanaAssignments(_ context.Context, r *http.Request) (any, error) {
	return rows(a, r, func(now Look, at place) any { return orEmpty(views.GrafanaAssignments(now.Round, at.stream, at.group)) })
}

func (a *api) streamOptions(ctx context.Context, _ *http.Request) (any, error) {
	now, err := a.lookFor(ctx)
	if err != nil {
		return nil, err
	}
	return orEmpty(views.StreamOptions(now.Round)), nil
}

func (a *api) groupOptions(ctx context.Context, r *http.Request) (any, error) {
	at, err := a.placeOf(r)
	if err != nil {
		return nil, err
	}
	now, err := a.lookFor(ctx)
	if err != nil {
		return nil, err
	}
	return orEmpty(views.GroupOptions(now.Round, at.stream)), nil
}

func (a *api) shardOptions(_ context.Context, r *http.Request) (any, error) {
	return rows(a, r, func(now Look, at place) any { return orEmpty(views.ShardOptions(now.Round, at.stream, at.group)) })
}

// rows answers what has both names in its query.
func rows(a *api, r *http.Request, of func(Look, place) any) (any, error) {
	at, err := a.required(r)
	if err != nil {
		return nil, err
	}
	now, err := a.look()
	if err != nil {
		return nil, err
	}
	return of(now, at), nil
}
