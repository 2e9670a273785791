package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// creation is what a create request asks for.
type creation struct {
	prefix string
	shards *int // nil takes the stream's, or the default
	groups []stream.Group
	order  recorder.Order
	// whole creates a stream: it must not exist. Otherwise a group is added to it.
	whole bool
}

// CreateStream creates a stream with its groups. STREAM_PREFIX_ALREADY_EXISTS when it
// has an active group; REDIS_STREAM_PROVISIONING_FAILED leaves nothing active, and the
// same request again completes it.
func (c *Catalog) CreateStream(ctx context.Context, prefix string, req protocol.CreateStreamRequest) (protocol.StreamCreateResponse, error) {
	made, err := c.create(ctx, wholeStream(ctx, prefix, req))
	if err != nil {
		return protocol.StreamCreateResponse{}, err
	}
	return protocol.StreamCreateResponse{
		StreamPrefix: prefix, ShardCount: made.ShardCount, MetadataVersion: made.MetadataVersion, ConsumerGroups: made.Active(),
	}, nil
}

// wholeStream is the creation of a stream with its groups.
func wholeStream(ctx context.Context, prefix string, req protocol.CreateStreamRequest) creation {
	names := req.ConsumerGroups
	if len(names) == 0 {
		names = []string{strings.ReplaceAll(prefix, ":", "-")}
	}
	groups := make([]stream.Group, len(names))
	for i, name := range names {
		groups[i] = stream.Group{Name: name}
	}
	return creation{
		prefix: prefix, shards: req.InitialShardCount, groups: groups, whole: true,
		order: orderOf(ctx, protocol.ActionCreate, req.RequestedBy, req.Reason),
	}
}

// CreateGroup adds a group to a stream, and makes the stream if there is none (J0).
// GROUP_ALREADY_EXISTS; SHARD_COUNT_MISMATCH when the stream has another count. A group
// whose metadata is gone or corrupt is created anew under a barrier: that is its repair
// (M6).
func (c *Catalog) CreateGroup(ctx context.Context, prefix, name string, req protocol.CreateGroupRequest) (protocol.GroupResponse, error) {
	if _, err := c.create(ctx, oneGroup(ctx, prefix, name, req)); err != nil {
		return protocol.GroupResponse{}, err
	}
	return c.Group(ctx, prefix, name)
}

// oneGroup is the creation of a group.
func oneGroup(ctx context.Context, prefix, name string, req protocol.CreateGroupRequest) creation {
	wanted := stream.Group{Name: name, FromLatest: req.InitialPosition == protocol.PositionLatest}
	return creation{
		prefix: prefix, shards: req.InitialShardCount, groups: []stream.Group{wanted},
		order: orderOf(ctx, protocol.ActionCreate, req.RequestedBy, req.Reason),
	}
}

func (c *Catalog) create(ctx context.Context, want creation) (stream.Stream, error) {
	var made stream.Stream
	err := c.alone(ctx, want.prefix, func(lease string) error {
		e, found, err := c.records.Load(ctx, want.prefix)
		if err != nil {
			return err
		}
		next, repaired, err := c.planCreate(ctx, e.Stream, found, want)
		if err != nil {
			return err
		}
		if err := c.records.Save(ctx, &e, next.Marked(0, int64(e.Clock)), lease); err != nil {
			return err
		}
		used, err := c.provision(ctx, &e, want.groups, lease)
		if err != nil {
			return err
		}
		if err := c.makeRecords(ctx, e, want, used || repaired); err != nil {
			return err
		}
		made, err = activate(e.Stream, want.groups)
		if err != nil {
			return fmt.Errorf("activate groups of %s: %w", want.prefix, err)
		}
		return c.records.Save(ctx, &e, made, lease)
	})
	return made, err
}

// planCreate returns the stream's record with the wanted groups as CREATING. repaired
// tells that one of them had lost its metadata.
func (c *Catalog) planCreate(ctx context.Context, s stream.Stream, found bool, want creation) (next stream.Stream, repaired bool, err error) {
	idle := found && len(s.Active()) == 0 && !deleting(s)
	switch {
	case !found:
		s, err = c.newStream(ctx, want)
	case want.whole && !idle:
		err = protocol.Errorf(protocol.CodeStreamAlreadyExists, "stream %q exists", want.prefix)
	case idle && want.shards != nil: // an earlier try got no further than this record
		s.ShardCount = *want.shards
		s.MetadataVersion++
	case want.shards != nil && *want.shards != s.ShardCount:
		err = protocol.Errorf(protocol.CodeShardCountMismatch,
			"stream %q has %d shards, the request says %d; leave initialShardCount out or scale the stream",
			want.prefix, s.ShardCount, *want.shards)
	}
	if err != nil {
		return s, false, err
	}
	for _, g := range want.groups {
		lost := c.lost(ctx, want.prefix, g.Name)
		if s, err = s.WithCreating(g, lost); err != nil {
			return s, false, refuseCreate(s, g.Name, err)
		}
		active, _ := s.Find(g.Name)
		repaired = repaired || lost && active.State == stream.Active
	}
	return s, repaired, nil
}

// newStream returns the record of a stream that does not exist. Where one of its groups
// has survived the loss of the stream's record, the count is that of the group's reading
// set: shards that were being removed may hold records, and are routed to again (L3).
func (c *Catalog) newStream(ctx context.Context, want creation) (stream.Stream, error) {
	shards := c.cfg.InitialShards
	if want.shards != nil {
		shards = *want.shards
	}
	for _, g := range want.groups {
		v, err := c.groups.View(ctx, store.Key{Stream: want.prefix, Group: g.Name})
		if err != nil {
			continue
		}
		if count := v.Group.ReadCount(); want.shards == nil {
			shards = count
		} else if count != shards {
			return stream.Stream{}, protocol.Errorf(protocol.CodeShardCountMismatch,
				"group %q of stream %q exists with %d shards; leave initialShardCount out or say %d", g.Name, want.prefix, count, count)
		}
	}
	now, err := c.store.Ping(ctx)
	if err != nil {
		return stream.Stream{}, loop.Fault(err)
	}
	return stream.Stream{
		Prefix: want.prefix, ShardCount: shards, MetadataVersion: 1, Lineage: c.nonce(),
		Mark: int64(now), Groups: []stream.Group{}, CreatedAt: int64(now),
	}, nil
}

// lost tells whether the group's own record is missing or cannot be read.
func (c *Catalog) lost(ctx context.Context, prefix, name string) bool {
	_, err := c.groups.View(ctx, store.Key{Stream: prefix, Group: name})
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrCorrupt)
}

// provision makes the shard keys with the groups, and tells whether an earlier life of a
// group may be reading on them. With provisioning off nobody can tell, so it may (J1).
func (c *Catalog) provision(ctx context.Context, e *records.Entry, groups []stream.Group, lease string) (used bool, err error) {
	if c.shards == nil {
		return true, nil
	}
	existing, err := c.shards.Provision(ctx, e.Stream.Prefix, e.Stream.Readable(), groups, e.Stream.Mark)
	if above, stale := errors.AsType[*provision.HigherMarkError](err); stale { // of a record that is lost, or of a former stream
		if err := c.records.Save(ctx, e, e.Stream.Marked(above.Higher, int64(e.Clock)), lease); err != nil {
			return false, err
		}
		existing, err = c.shards.Provision(ctx, e.Stream.Prefix, e.Stream.Readable(), groups, e.Stream.Mark)
	}
	if err != nil {
		return false, protocol.Errorf(protocol.CodeProvisioningFailed,
			"stream %q is not active: %v; the same request completes it once Redis works", e.Stream.Prefix, err).Because(err)
	}
	return existing > 0, nil
}

// makeRecords creates the groups' own records. One that is there and can be read was
// made by an earlier try of this workflow.
func (c *Catalog) makeRecords(ctx context.Context, e records.Entry, want creation, barrier bool) error {
	for _, g := range want.groups {
		key := store.Key{Stream: e.Stream.Prefix, Group: g.Name}
		if err := c.discardCorrupt(ctx, key, want.order); err != nil {
			return err
		}
		record := group.New(c.cfg.Group, group.Birth{
			StreamPrefix: e.Stream.Prefix, ConsumerGroup: g.Name, Layout: loop.LayoutOf(e.Stream),
			Lineage: c.nonce(), Now: group.Millis(e.Clock), Barrier: barrier,
			EpochFloor: group.EpochFloorAt(group.Millis(e.Clock)),
		})
		schema := c.cfg.Schema()
		aggregate, err := codec.EncodeGroup(schema, record)
		if err != nil {
			return fmt.Errorf("create group %s: %w", key, err)
		}
		event, err := recorder.Encode(recorder.Ordered(want.order, nil, record))
		if err != nil {
			return fmt.Errorf("create group %s: %w", key, err)
		}
		_, err = c.store.Create(ctx, store.Create{
			Key: key, Token: c.nonce(), Schema: schema, Aggregate: aggregate, Event: event,
		})
		if err != nil && !errors.Is(err, store.ErrExists) {
			return loop.Fault(err)
		}
		c.groups.Mended(key)
	}
	return nil
}

// discardCorrupt deletes a record that cannot be read, so that it can be made anew (M6).
func (c *Catalog) discardCorrupt(ctx context.Context, key store.Key, order recorder.Order) error {
	_, err := c.groups.View(ctx, key)
	if !errors.Is(err, store.ErrCorrupt) {
		return nil
	}
	loaded, err := c.store.Load(ctx, key, store.Version{})
	version := loaded.Version
	if errors.Is(err, store.ErrCorrupt) {
		version = store.Version{}
	} else if err != nil {
		return loop.Fault(err)
	}
	order.Action = protocol.ActionDiscard
	event, err := recorder.Encode(recorder.Ordered(order, nil, nil))
	if err != nil {
		return fmt.Errorf("discard group %s: %w", key, err)
	}
	if _, err := c.store.Delete(ctx, key, version, event); err != nil && !errors.Is(err, store.ErrNotFound) {
		return loop.Fault(err)
	}
	c.log.Warn("corrupt group metadata discarded, the group is created again", "group", key.String())
	return nil
}

func activate(s stream.Stream, groups []stream.Group) (stream.Stream, error) {
	var err error
	for _, g := range groups {
		if s, err = s.WithState(g.Name, stream.Active); err != nil {
			return s, err
		}
	}
	return s, nil
}

func deleting(s stream.Stream) bool {
	for _, g := range s.Groups {
		if g.State == stream.Deleting {
			return true
		}
	}
	return false
}

func refuseCreate(s stream.Stream, name string, err error) error {
	switch {
	case errors.Is(err, stream.ErrActive):
		return records.Resharding(s).Because(err)
	case errors.Is(err, stream.ErrGroupBusy):
		return protocol.Errorf(protocol.CodeStateVersionConflict,
			"group %q of stream %q is being deleted; delete it again to complete that, then create it", name, s.Prefix).Because(err)
	default:
		return protocol.Errorf(protocol.CodeGroupAlreadyExists, "group %q of stream %q exists", name, s.Prefix).Because(err)
	}
}
