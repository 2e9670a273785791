package catalog

import (
	"context"
	"errors"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// Group shows one group. GROUP_NOT_FOUND; METADATA_MISSING when the stream's record
// names it and its own record is gone; METADATA_CORRUPT (M6).
func (c *Catalog) Group(ctx context.Context, prefix, name string) (protocol.GroupResponse, error) {
	source, err := c.source(ctx, prefix, name)
	if err != nil {
		return protocol.GroupResponse{}, err
	}
	shown := views.Group(source)
	shown.ActiveMigration = c.activeMigration(ctx, prefix)
	return shown, nil
}

// activeMigration shows the resharding that is under way on a stream, nil when there is
// none or its record cannot be read: the group is shown all the same.
func (c *Catalog) activeMigration(ctx context.Context, prefix string) *protocol.Migration {
	e, _, err := c.records.Load(ctx, prefix)
	if err != nil || e.Stream.Resharding == nil {
		return nil
	}
	shown := views.Migration(*e.Stream.Resharding)
	return &shown
}

// Groups shows every group that can be read.
func (c *Catalog) Groups(ctx context.Context) (protocol.GroupsResponse, error) {
	response := protocol.GroupsResponse{Groups: []protocol.GroupResponse{}}
	keys, err := c.store.List(ctx)
	if err != nil {
		return response, loop.Fault(err)
	}
	for _, key := range keys {
		if key.Group == "" {
			continue
		}
		shown, err := c.Group(ctx, key.Stream, key.Group)
		switch {
		case err == nil:
			response.Groups = append(response.Groups, shown)
		case storeAway(err):
			return response, err
		}
	}
	return response, nil
}

// Members shows the members of a group. Errors as of Group.
func (c *Catalog) Members(ctx context.Context, prefix, name string) (protocol.MembersResponse, error) {
	source, err := c.source(ctx, prefix, name)
	if err != nil {
		return protocol.MembersResponse{}, err
	}
	return protocol.MembersResponse{Members: views.Members(source)}, nil
}

// Assignments shows who reads what. Errors as of Group.
func (c *Catalog) Assignments(ctx context.Context, prefix, name string) (protocol.AssignmentsResponse, error) {
	source, err := c.source(ctx, prefix, name)
	if err != nil {
		return protocol.AssignmentsResponse{}, err
	}
	return views.Assignments(source), nil
}

// Migrations lists the reshardings of a group's stream, the newest first. Errors as of
// Group.
func (c *Catalog) Migrations(ctx context.Context, prefix, name string) (protocol.MigrationsResponse, error) {
	e, found, err := c.records.Load(ctx, prefix)
	if err != nil {
		return protocol.MigrationsResponse{}, err
	}
	if g, known := e.Stream.Find(name); !found || !known || g.State != stream.Active {
		return protocol.MigrationsResponse{}, c.absent(ctx, prefix, name, found)
	}
	return migrationsOf(e.Stream), nil
}

// Routing tells producers where records go. It reads the stream's record from the store
// every time, so that the lease counts from a confirmation (L3), and writes nothing.
func (c *Catalog) Routing(ctx context.Context, prefix, name string) (protocol.ProducerRouting, error) {
	e, found, err := c.records.Load(ctx, prefix)
	if err != nil {
		return protocol.ProducerRouting{}, err
	}
	if g, known := e.Stream.Find(name); !found || !known || g.State != stream.Active {
		return protocol.ProducerRouting{}, c.absent(ctx, prefix, name, found)
	}
	response := protocol.ProducerRouting{
		StreamPrefix: prefix, ConsumerGroup: name, MetadataVersion: e.Stream.MetadataVersion,
		ShardCount: e.Stream.ShardCount, StreamKeyPattern: prefix + ":{shardIndex}",
		Shards:  make([]protocol.RoutingShard, e.Stream.ShardCount),
		LeaseMs: c.cfg.RoutingLease.Milliseconds(), Lineage: e.Stream.Lineage, RoutingProtocol: protocol.RoutingProtocol,
	}
	for i := range response.Shards {
		key := routing.StreamKey(prefix, i)
		response.Shards[i] = protocol.RoutingShard{ShardIndex: i, StreamKey: key, RedisSlot: routing.Slot(key)}
	}
	return response, nil
}

// Stream shows one stream with its active groups. STREAM_NOT_FOUND when it has none.
func (c *Catalog) Stream(ctx context.Context, prefix string) (protocol.StreamResponse, error) {
	e, found, err := c.records.Load(ctx, prefix)
	if err != nil {
		return protocol.StreamResponse{}, err
	}
	if !found || len(e.Stream.Active()) == 0 {
		return protocol.StreamResponse{}, streamNotFound(prefix)
	}
	return c.show(ctx, e.Stream), nil
}

// Streams shows every stream that can be read.
func (c *Catalog) Streams(ctx context.Context) (protocol.StreamsResponse, error) {
	response := protocol.StreamsResponse{Streams: []protocol.StreamResponse{}}
	keys, err := c.store.List(ctx)
	if err != nil {
		return response, loop.Fault(err)
	}
	for _, key := range keys {
		if key.Group != "" {
			continue
		}
		shown, err := c.Stream(ctx, key.Stream)
		switch {
		case err == nil:
			response.Streams = append(response.Streams, shown)
		case storeAway(err):
			return response, err
		}
	}
	return response, nil
}

// show lists a stream with those of its groups that can be read.
func (c *Catalog) show(ctx context.Context, s stream.Stream) protocol.StreamResponse {
	response := protocol.StreamResponse{
		StreamPrefix: s.Prefix, ShardCount: s.ShardCount, StreamKeyPattern: s.Prefix + ":{shardIndex}",
		MetadataVersion: s.MetadataVersion, ConsumerGroups: s.Active(), Groups: []protocol.GroupResponse{},
	}
	for _, name := range response.ConsumerGroups {
		if shown, err := c.Group(ctx, s.Prefix, name); err == nil {
			response.Groups = append(response.Groups, shown)
		}
	}
	return response
}

func (c *Catalog) source(ctx context.Context, prefix, name string) (views.Source, error) {
	v, err := c.groups.View(ctx, store.Key{Stream: prefix, Group: name})
	if errors.Is(err, store.ErrNotFound) {
		_, found, loadErr := c.records.Load(ctx, prefix)
		if loadErr != nil {
			return views.Source{}, loadErr
		}
		return views.Source{}, c.absent(ctx, prefix, name, found)
	}
	if err != nil {
		return views.Source{}, loop.Fault(err)
	}
	return views.Source{
		Group: v.Group, Live: v.Live, Detail: v.Detail, RebalanceTimeoutMs: c.cfg.Group.RebalanceTimeout.Milliseconds(),
	}, nil
}

// absent tells a group that never was from one whose metadata is lost (M6).
func (c *Catalog) absent(ctx context.Context, prefix, name string, streamFound bool) error {
	missing := protocol.Errorf(protocol.CodeMetadataMissing,
		"the metadata of group %q of stream %q is gone; creating the group again repairs it", name, prefix)
	if !streamFound { // the stream's record may be what is lost
		if _, err := c.groups.View(ctx, store.Key{Stream: prefix, Group: name}); err == nil {
			return missing
		}
		return notFound(prefix, name)
	}
	e, _, err := c.records.Load(ctx, prefix)
	if err != nil {
		return err
	}
	if g, known := e.Stream.Find(name); known && g.State == stream.Active {
		return missing
	}
	return notFound(prefix, name)
}

// storeAway tells whether a listing cannot go on, as opposed to one entry being broken.
func storeAway(err error) bool {
	var fault *protocol.Error
	return errors.As(err, &fault) && fault.Code == protocol.CodeStoreUnavailable
}
