package httpapi

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// groups lists the groups that can be shown; of the others only their problems are known.
func (a *api) groups(context.Context, *http.Request) (any, error) {
	now, err := a.look()
	if err != nil {
		return nil, err
	}
	shown := protocol.GroupsResponse{Groups: make([]protocol.GroupResponse, 0, len(now.Round.Groups))}
	for _, group := range now.Round.Groups {
		if readable(group) {
			shown.Groups = append(shown.Groups, group.View)
		}
	}
	return shown, nil
}

// group shows the group with what was observed of its shards.
func (a *api) group(_ context.Context, r *http.Request) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	if _, err := groupOf(now.Round, at); err != nil {
		return nil, err
	}
	found, _ := views.Group(now.Round, now.Snapshot, at.stream, at.group)
	return found, nil
}

func (a *api) members(_ context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(g facts.Group) any { return protocol.MembersResponse{Members: orEmpty(g.Members)} })
}

func (a *api) assignments(_ context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(g facts.Group) any { return g.Assignments })
}

func (a *api) migrations(_ context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(g facts.Group) any {
		shown := protocol.MigrationsResponse{Migrations: orEmpty(g.Migrations)}
		if active := g.View.ActiveMigration; active != nil {
			shown.ActiveReshardingID = &active.ReshardingID
		}
		return shown
	})
}

// ofGroup answers a view of the group that the path names.
func (a *api) ofGroup(r *http.Request, view func(facts.Group) any) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	found, err := groupOf(now.Round, at)
	if err != nil {
		return nil, err
	}
	return view(found), nil
}

// groupOf finds a group in a round.
func groupOf(round facts.Round, at place) (facts.Group, error) {
	for _, group := range round.Groups {
		if group.View.StreamPrefix != at.stream || group.View.ConsumerGroup != at.group {
			continue
		}
		if !readable(group) {
			return facts.Group{}, errUnreadable(group.Problem)
		}
		return group, nil
	}
	return facts.Group{}, errNoGroup(at)
}

// readable tells whether the coordinator could show a group; its state is always said then.
func readable(group facts.Group) bool { return group.View.State != "" }

// errUnreadable passes on why the coordinator could not show a group.
func errUnreadable(problem string) error {
	code := protocol.CodeMetadataCorrupt
	if problem == string(protocol.CodeMetadataMissing) {
		code = protocol.CodeMetadataMissing
	}
	return protocol.Errorf(code, "the coordinator cannot read this group's metadata: %s", protocol.Echo(problem))
}

func errNoGroup(at place) error {
	return protocol.Errorf(protocol.CodeGroupNotFound, "there is no group %q on stream %q", protocol.Echo(at.group), protocol.Echo(at.stream))
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
