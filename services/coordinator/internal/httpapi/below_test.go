package httpapi_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// layer stands below the API: it notes every call and gives the answers set.
type layer struct {
	mu    sync.Mutex
	calls []string

	// before runs inside every call but those of health, if set.
	before func(ctx context.Context) error

	heartbeat   *protocol.HeartbeatResponse
	created     protocol.StreamCreateResponse
	group       protocol.GroupResponse
	stream      protocol.StreamResponse
	members     protocol.MembersResponse
	assignments protocol.AssignmentsResponse
	migrations  protocol.MigrationsResponse
	routing     protocol.ProducerRouting
	scaled      protocol.StreamScaleResponse
	migration   protocol.Migration
	plan        protocol.Plan
	index       protocol.RepairIndexResponse
	events      protocol.EventsResponse
	snapshots   protocol.GroupSnapshotsResponse
	health      protocol.HealthResponse
	notReady    error

	heard  *protocol.HeartbeatRequest
	asked  any // the last mutation's request
	reject error
}

// newLayer returns a layer whose answers are as small as the API takes them.
func newLayer() *layer {
	return &layer{
		heartbeat: &protocol.HeartbeatResponse{ResponseTo: "r-1", Status: protocol.StatusOK, MemberID: "m-1"},
		scaled:    protocol.StreamScaleResponse{Migrations: []protocol.Migration{{ReshardingID: "r1"}}},
	}
}

// deps returns what an API needs in which this layer stands below all endpoints.
func (l *layer) deps() httpapi.Deps {
	return httpapi.Deps{
		Heartbeats: l, Catalog: l, Reshardings: l, Plans: l, Repairs: l, Views: l, History: l, Health: l,
		Guard: httpapi.NewGuard(httpapi.GuardConfig{Dev: true}),
	}
}

func (l *layer) note(ctx context.Context, format string, args ...any) error {
	if l.before != nil {
		if err := l.before(ctx); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
	return l.reject
}

// seen returns what was called, in order.
func (l *layer) seen() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.calls...)
}

func (l *layer) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = nil
}

func (l *layer) keep(request any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if heartbeat, ok := request.(*protocol.HeartbeatRequest); ok {
		l.heard = heartbeat
		return
	}
	l.asked = request
}

func (l *layer) Heartbeat(ctx context.Context, stream, group string, req *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, error) {
	l.keep(req)
	return l.heartbeat, l.note(ctx, "Heartbeat %s %s %s", stream, group, req.MemberID)
}

func (l *layer) CreateStream(ctx context.Context, stream string, req protocol.CreateStreamRequest) (protocol.StreamCreateResponse, error) {
	l.keep(req)
	return l.created, l.note(ctx, "CreateStream %s", stream)
}

func (l *layer) CreateGroup(ctx context.Context, stream, group string, req protocol.CreateGroupRequest) (protocol.GroupResponse, error) {
	l.keep(req)
	return l.group, l.note(ctx, "CreateGroup %s %s", stream, group)
}

func (l *layer) DeleteStream(ctx context.Context, stream string, req protocol.DeleteRequest) (protocol.StreamResponse, error) {
	l.keep(req)
	return l.stream, l.note(ctx, "DeleteStream %s", stream)
}

func (l *layer) DeleteGroup(ctx context.Context, stream, group string, req protocol.DeleteRequest) (protocol.GroupResponse, error) {
	l.keep(req)
	return l.group, l.note(ctx, "DeleteGroup %s %s", stream, group)
}

func (l *layer) Stream(ctx context.Context, stream string) (protocol.StreamResponse, error) {
	return l.stream, l.note(ctx, "Stream %s", stream)
}

func (l *layer) Streams(ctx context.Context) (protocol.StreamsResponse, error) {
	return protocol.StreamsResponse{Streams: []protocol.StreamResponse{l.stream}}, l.note(ctx, "Streams")
}

func (l *layer) Group(ctx context.Context, stream, group string) (protocol.GroupResponse, error) {
	return l.group, l.note(ctx, "Group %s %s", stream, group)
}

func (l *layer) Groups(ctx context.Context) (protocol.GroupsResponse, error) {
	return protocol.GroupsResponse{Groups: []protocol.GroupResponse{l.group}}, l.note(ctx, "Groups")
}

func (l *layer) Members(ctx context.Context, stream, group string) (protocol.MembersResponse, error) {
	return l.members, l.note(ctx, "Members %s %s", stream, group)
}

func (l *layer) Assignments(ctx context.Context, stream, group string) (protocol.AssignmentsResponse, error) {
	return l.assignments, l.note(ctx, "Assignments %s %s", stream, group)
}

func (l *layer) Migrations(ctx context.Context, stream, group string) (protocol.MigrationsResponse, error) {
	return l.migrations, l.note(ctx, "Migrations %s %s", stream, group)
}

func (l *layer) Snapshots(ctx context.Context) (protocol.GroupSnapshotsResponse, error) {
	return l.snapshots, l.note(ctx, "Snapshots")
}

func (l *layer) Routing(ctx context.Context, stream, group string) (protocol.ProducerRouting, error) {
	return l.routing, l.note(ctx, "Routing %s %s", stream, group)
}

func (l *layer) Events(ctx context.Context, stream, group, after string, limit int) (protocol.EventsResponse, error) {
	return l.events, l.note(ctx, "Events %s %s %q %d", stream, group, after, limit)
}

func (l *layer) Health(context.Context) protocol.HealthResponse { return l.health }

func (l *layer) Ready(context.Context) error { return l.notReady }
