package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const monitoring = "/monitoring"

// CreateStream creates a stream with its groups.
func (c *Client) CreateStream(
	ctx context.Context, stream string, req *protocol.CreateStreamRequest,
) (*protocol.StreamCreateResponse, error) {
	return onStream[protocol.StreamCreateResponse](ctx, c, http.MethodPost, streamRef{stream, ""}, req)
}

// Stream returns one stream with its groups and layout.
func (c *Client) Stream(ctx context.Context, stream string) (*protocol.StreamResponse, error) {
	return onStream[protocol.StreamResponse](ctx, c, http.MethodGet, streamRef{stream, ""}, nil)
}

// Streams lists the streams.
func (c *Client) Streams(ctx context.Context) (*protocol.StreamsResponse, error) {
	return roundTrip[protocol.StreamsResponse](ctx, c, http.MethodGet, c.base+"/streams", nil)
}

// DeleteStream deletes a stream with its groups.
func (c *Client) DeleteStream(
	ctx context.Context, stream string, req *protocol.DeleteRequest,
) (*protocol.StreamResponse, error) {
	return onStream[protocol.StreamResponse](ctx, c, http.MethodDelete, streamRef{stream, ""}, req)
}

// CreateGroup creates a group, and its stream if that is new.
func (c *Client) CreateGroup(
	ctx context.Context, stream, group string, req *protocol.CreateGroupRequest,
) (*protocol.GroupResponse, error) {
	return onGroup[protocol.GroupResponse](ctx, c, http.MethodPost, groupRef{c.base, stream, group, ""}, req)
}

// Group returns one group.
func (c *Client) Group(ctx context.Context, stream, group string) (*protocol.GroupResponse, error) {
	return onGroup[protocol.GroupResponse](ctx, c, http.MethodGet, groupRef{c.base, stream, group, ""}, nil)
}

// Groups lists the groups of all streams.
func (c *Client) Groups(ctx context.Context) (*protocol.GroupsResponse, error) {
	return roundTrip[protocol.GroupsResponse](ctx, c, http.MethodGet, c.base+monitoring+"/groups", nil)
}

// DeleteGroup deletes a group.
func (c *Client) DeleteGroup(
	ctx context.Context, stream, group string, req *protocol.DeleteRequest,
) (*protocol.GroupResponse, error) {
	return onGroup[protocol.GroupResponse](ctx, c, http.MethodDelete, groupRef{c.base, stream, group, ""}, req)
}

// Members lists the members of a group.
func (c *Client) Members(ctx context.Context, stream, group string) (*protocol.MembersResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/members"}
	return onGroup[protocol.MembersResponse](ctx, c, http.MethodGet, ref, nil)
}

// Assignments shows who should read and who may be reading the shards of a group.
func (c *Client) Assignments(ctx context.Context, stream, group string) (*protocol.AssignmentsResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/assignments"}
	return onGroup[protocol.AssignmentsResponse](ctx, c, http.MethodGet, ref, nil)
}

// Migrations lists the reshardings of a group.
func (c *Client) Migrations(ctx context.Context, stream, group string) (*protocol.MigrationsResponse, error) {
	ref := groupRef{c.base + monitoring, stream, group, "/migrations"}
	return onGroup[protocol.MigrationsResponse](ctx, c, http.MethodGet, ref, nil)
}

// Events reads a group's flight recorder after a cursor; limit 0 asks for no number.
func (c *Client) Events(ctx context.Context, stream, group, after string, limit int) (*protocol.EventsResponse, error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	suffix := "/events"
	if len(query) > 0 {
		suffix += "?" + query.Encode()
	}
	return onGroup[protocol.EventsResponse](ctx, c, http.MethodGet, groupRef{c.base, stream, group, suffix}, nil)
}

// Health returns the health of the coordinator that answers.
func (c *Client) Health(ctx context.Context) (*protocol.HealthResponse, error) {
	return roundTrip[protocol.HealthResponse](ctx, c, http.MethodGet, c.base+monitoring+"/health", nil)
}

// Compatibility tells which protocols the coordinator speaks, and its timing values.
func (c *Client) Compatibility(ctx context.Context) (*protocol.CompatibilityResponse, error) {
	return roundTrip[protocol.CompatibilityResponse](ctx, c, http.MethodGet, c.base+monitoring+"/compatibility", nil)
}

// Version tells which build answers; its path has no base path.
func (c *Client) Version(ctx context.Context) (*protocol.VersionResponse, error) {
	return roundTrip[protocol.VersionResponse](ctx, c, http.MethodGet, c.root+"/version", nil)
}

// streamRef names a resource of a stream.
type streamRef struct{ stream, suffix string }

// groupRef names a resource below a group.
type groupRef struct{ base, stream, group, suffix string }

func onStream[T any](ctx context.Context, c *Client, method string, ref streamRef, body any) (*T, error) {
	url, err := streamPath(c.base, ref.stream)
	if err != nil {
		return nil, err
	}
	return roundTrip[T](ctx, c, method, url+ref.suffix, body)
}

func onGroup[T any](ctx context.Context, c *Client, method string, ref groupRef, body any) (*T, error) {
	url, err := groupPath(ref.base, ref.stream, ref.group, ref.suffix)
	if err != nil {
		return nil, err
	}
	return roundTrip[T](ctx, c, method, url, body)
}

func roundTrip[T any](ctx context.Context, c *Client, method, url string, body any) (*T, error) {
	var answer T
	if _, err := c.do(ctx, call{method: method, url: url, body: body}, &answer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, url[len(c.root):], err)
	}
	return &answer, nil
}
