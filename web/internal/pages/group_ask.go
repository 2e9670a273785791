package pages

import (
	"context"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// maxHistoryPages bounds how much of a history is read at once: 1000 events each, of which the
// newest are kept.
const maxHistoryPages = 5

type groupAPI interface {
	SampledGroup(ctx context.Context, stream, group string, samples int) (*protocol.MonitoredGroup, error)
	ShardRows(ctx context.Context, stream, group string) ([]protocol.GrafanaShardRow, error)
	Members(ctx context.Context, stream, group string) ([]protocol.MemberMetadata, error)
	Assignments(ctx context.Context, stream, group string) (*protocol.AssignmentsResponse, error)
	Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error)
	Events(ctx context.Context, stream, group, after string, limit int) (*protocol.EventsResponse, error)
}

// asked is what the API told of a group.
type asked struct {
	group       *protocol.MonitoredGroup
	groupErr    error
	members     []protocol.MemberMetadata
	membersErr  error
	assigned    *protocol.AssignmentsResponse
	assignedErr error
	events      []protocol.GroupEvent
	eventsErr   error
}

// groupScene asks for all that a page of a group shows.
func (p *Pages) groupScene(ctx context.Context, at room) (*model.Scene, error) {
	var rows []protocol.GrafanaShardRow
	var rowsErr error
	var asking sync.WaitGroup
	asking.Go(func() { rows, rowsErr = p.deps.API.ShardRows(ctx, at.stream, at.group) })
	said := p.ask(ctx, at, nil)
	asking.Wait()
	switch {
	case said.groupErr != nil:
		return nil, said.groupErr
	case rowsErr != nil:
		return nil, rowsErr
	}
	return model.SceneOf(said.group, rows, said.details(nil)), nil
}

// groupDetails asks for what the monitor's events do not tell, for all who look at a group.
func (p *Pages) groupDetails(ctx context.Context, at room, scene *model.Scene) (learn, error) {
	if !scene.DetailsDue() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	said := p.ask(ctx, at, scene.Details)
	if said.groupErr != nil {
		return nil, said.groupErr
	}
	details := said.details(scene.Details)
	details.At, details.Version, details.Lineage = scene.At, scene.Group.MetadataVersion, scene.Group.Lineage
	return func(s *model.Scene) *model.Scene { return s.WithDetails(details) }, nil
}

// ask asks for the parts at once. before is what was known; nil for nothing.
func (p *Pages) ask(ctx context.Context, at room, before *model.GroupDetails) asked {
	var said asked
	var asking sync.WaitGroup
	asking.Go(func() {
		said.group, said.groupErr = p.deps.API.SampledGroup(ctx, at.stream, at.group, model.GroupSamples)
	})
	asking.Go(func() { said.members, said.membersErr = p.deps.API.Members(ctx, at.stream, at.group) })
	asking.Go(func() { said.assigned, said.assignedErr = p.deps.API.Assignments(ctx, at.stream, at.group) })
	asking.Go(func() { said.events, said.eventsErr = p.newestEvents(ctx, at, before) })
	asking.Wait()
	return said
}

// newestEvents reads on where the history ended before, and returns the newest events, never
// nil without an error.
func (p *Pages) newestEvents(ctx context.Context, at room, before *model.GroupDetails) ([]protocol.GroupEvent, error) {
	events := []protocol.GroupEvent{}
	if before != nil {
		events = append(events, before.Events...)
	}
	after := before.Cursor()
	for range maxHistoryPages {
		page, err := p.deps.API.Events(ctx, at.stream, at.group, after, protocol.MaxEvents)
		if err != nil {
			return nil, err
		}
		events = model.Newest(events, page.Events)
		if page.Next == nil || *page.Next == after {
			break
		}
		after = *page.Next
	}
	return events, nil
}

// details puts the parts together; one that could not be asked for stays as it was before.
func (s asked) details(before *model.GroupDetails) *model.GroupDetails {
	if before == nil {
		before = &model.GroupDetails{}
	}
	details := &model.GroupDetails{
		At: s.group.ObservedAt, Version: s.group.MetadataVersion, Lineage: s.group.Lineage,
		Problems: s.group.Problems, Mutations: s.group.RecentMutations, Samples: s.group.Samples,
		Members: s.members, Assignments: s.assigned, Events: s.events,
	}
	model.SortMembers(s.members)
	if s.membersErr != nil {
		details.Members = before.Members
		details.Missing = append(details.Missing, "The members could not be asked for: "+textOf(s.membersErr)+".")
	}
	if s.assignedErr != nil {
		details.Assignments = before.Assignments
		details.Missing = append(details.Missing, "The assignment could not be asked for: "+textOf(s.assignedErr)+".")
	}
	if s.eventsErr != nil {
		details.Events = before.Events
		details.Missing = append(details.Missing, "The history could not be asked for: "+textOf(s.eventsErr)+".")
	}
	return details
}
