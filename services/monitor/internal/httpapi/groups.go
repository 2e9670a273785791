package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// groups lists the groups that can be shown; of the others only their problems are known.
func (a *api) groups(ctx context.Context, _ *http.Request) (any, error) {
	now, err := a.lookFor(ctx)
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

// group shows the group with what was observed of its shards, and with what was changed last.
func (a *api) group(ctx context.Context, r *http.Request) (any, error) {
	count, err := samplesAsked(r)
	if err != nil {
		return nil, err
	}
	return a.ofGroup(r, func(now Look, g facts.Group) any {
		found, _ := views.Group(now.Round, now.Snapshot, g.View.StreamPrefix, g.View.ConsumerGroup)
		found.Samples = now.samples(g.View.StreamPrefix, g.View.ConsumerGroup, count)
		found.RecentMutations = a.recent(ctx, g.View.StreamPrefix, g.View.ConsumerGroup)
		return found
	}, func(at place) (any, error) { return a.Coordinator.Group(ctx, at.stream, at.group) })
}

func (a *api) members(ctx context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(_ Look, g facts.Group) any {
		return protocol.MembersResponse{Members: orEmpty(g.Members)}
	}, func(at place) (any, error) {
		members, err := a.Coordinator.Members(ctx, at.stream, at.group)
		return protocol.MembersResponse{Members: orEmpty(members)}, err
	})
}

func (a *api) assignments(ctx context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(_ Look, g facts.Group) any { return g.Assignments },
		func(at place) (any, error) { return a.Coordinator.Assignments(ctx, at.stream, at.group) })
}

func (a *api) migrations(ctx context.Context, r *http.Request) (any, error) {
	return a.ofGroup(r, func(_ Look, g facts.Group) any {
		shown := protocol.MigrationsResponse{Migrations: orEmpty(g.Migrations)}
		if active := g.View.ActiveMigration; active != nil {
			shown.ActiveReshardingID = &active.ReshardingID
		}
		return shown
	}, func(at place) (any, error) { return a.Coordinator.Migrations(ctx, at.stream, at.group) })
}

// ofGroup answers a view of the group that the path names. One that was not observed may have
// been made since: the coordinator is asked, so that whoever has made it finds it at once.
func (a *api) ofGroup(r *http.Request, view func(Look, facts.Group) any, live func(place) (any, error)) (any, error) {
	at, now, err := a.lookAt(r)
	if err != nil {
		return nil, err
	}
	found, err := groupOf(now.Round, at)
	switch {
	case err == nil:
		return view(now, found), nil
	case a.Coordinator == nil || !isNoGroup(err):
		return nil, err
	}
	said, err := live(at)
	var refusal *protocol.Error
	if err != nil && !errors.As(err, &refusal) {
		err = protocol.Errorf(protocol.CodeStoreUnavailable, "the group has not been observed, and the coordinator does not answer").Because(err)
	}
	return said, err
}

// notObserved is the refusal for a group whose shards are not known: 404, or 503 for one that
// was made since the last round.
func (a *api) notObserved(ctx context.Context, at place) error {
	if a.Coordinator == nil {
		return errNoGroup(at)
	}
	_, err := a.Coordinator.Group(ctx, at.stream, at.group)
	if _, refused := errors.AsType[*protocol.Error](err); refused {
		return err
	}
	return protocol.Errorf(protocol.CodeStoreUnavailable, "the group's shards have not been observed yet").Because(err)
}

func isNoGroup(err error) bool {
	refusal, is := errors.AsType[*protocol.Error](err)
	return is && refusal.Code == protocol.CodeGroupNotFound
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

// has tells whether a round has a group that can be shown.
func has(round facts.Round, at place) bool {
	_, err := groupOf(round, at)
	return err == nil
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
