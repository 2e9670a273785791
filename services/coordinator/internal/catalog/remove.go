package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// DeleteGroup removes a group's metadata, and its Redis consumer group if asked to. It
// answers the group as it was. GROUP_HAS_ACTIVE_MEMBERS unless forced. With the last
// group the stream's record goes too.
func (c *Catalog) DeleteGroup(ctx context.Context, prefix, name string, req protocol.DeleteRequest) (protocol.GroupResponse, error) {
	before := protocol.GroupResponse{StreamPrefix: prefix, ConsumerGroup: name, State: protocol.GroupEmpty}
	err := c.alone(ctx, prefix, func(lease string) error {
		e, found, err := c.records.Load(ctx, prefix)
		if err != nil {
			return err
		}
		if _, known := e.Stream.Find(name); !found || !known {
			return notFound(prefix, name)
		}
		if shown, err := c.Group(ctx, prefix, name); err == nil {
			before = shown
		}
		return c.remove(ctx, &e, []string{name}, req, lease)
	})
	return before, err
}

// DeleteStream removes a stream with all its groups. It answers the stream as it was.
func (c *Catalog) DeleteStream(ctx context.Context, prefix string, req protocol.DeleteRequest) (protocol.StreamResponse, error) {
	var before protocol.StreamResponse
	err := c.alone(ctx, prefix, func(lease string) error {
		e, found, err := c.records.Load(ctx, prefix)
		if err != nil {
			return err
		}
		if !found {
			return streamNotFound(prefix)
		}
		before = c.show(ctx, e.Stream)
		names := make([]string, len(e.Stream.Groups))
		for i, g := range e.Stream.Groups {
			names[i] = g.Name
		}
		return c.remove(ctx, &e, names, req, lease)
	})
	return before, err
}

// remove takes groups out of the stream: the stream's record says so first, then their
// records go, then what they have in Redis, then their place in the stream.
func (c *Catalog) remove(ctx context.Context, e *records.Entry, names []string, req protocol.DeleteRequest, lease string) error {
	if err := c.refuseRemoval(ctx, e.Stream, names, req); err != nil {
		return err
	}
	next := e.Stream
	for _, name := range names {
		marked, err := next.WithState(name, stream.Deleting)
		if err != nil {
			return notFound(e.Stream.Prefix, name)
		}
		next = marked
	}
	if err := c.records.Save(ctx, e, next, lease); err != nil {
		return err
	}
	for _, name := range names {
		if err := c.erase(ctx, e.Stream, name, req); err != nil {
			return err
		}
		left, err := next.Without(name)
		if err != nil {
			return notFound(e.Stream.Prefix, name)
		}
		next = left
	}
	if len(next.Groups) > 0 {
		return c.records.Save(ctx, e, next, lease)
	}
	_, err := c.store.Delete(ctx, store.Key{Stream: e.Stream.Prefix}, e.Version, nil)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return loop.Fault(err)
	}
	return nil
}

// refuseRemoval refuses to delete groups of a stream that is resharded (L1), and without
// force those that are in a correction round (M5) or whose members may be reading.
func (c *Catalog) refuseRemoval(ctx context.Context, s stream.Stream, names []string, req protocol.DeleteRequest) error {
	if s.Resharding != nil {
		return records.Resharding(s)
	}
	if req.Force {
		return nil
	}
	for _, name := range names {
		if err := c.refuseAlive(ctx, s.Prefix, name); err != nil {
			return err
		}
	}
	return nil
}

// refuseAlive refuses to delete a group in a round or whose members may be reading.
func (c *Catalog) refuseAlive(ctx context.Context, prefix, name string) error {
	v, err := c.groups.View(ctx, store.Key{Stream: prefix, Group: name})
	if err != nil {
		if errors.Is(err, store.ErrUnavailable) {
			return loop.Fault(err)
		}
		return nil // nobody can be told anything by a record that is gone or corrupt
	}
	if v.Group.Round != nil {
		return protocol.Errorf(protocol.CodeMetadataSyncInProgress,
			"group %q of stream %q is in a correction round, try again when its members agree, or use force", name, prefix)
	}
	for _, m := range v.Group.Members {
		if m.Listening() {
			return protocol.Errorf(protocol.CodeGroupHasActiveMembers,
				"group %q of stream %q has live members, for example %q; stop them or use force", name, prefix, protocol.Echo(m.ID))
		}
	}
	return nil
}

// erase deletes a group's record, whatever version it has by now, and its part of Redis.
func (c *Catalog) erase(ctx context.Context, s stream.Stream, name string, req protocol.DeleteRequest) error {
	key := store.Key{Stream: s.Prefix, Group: name}
	for {
		err := c.eraseRecord(ctx, key, orderOf(ctx, protocol.ActionDelete, req.RequestedBy, &req.Reason))
		if errors.Is(err, store.ErrConflict) {
			continue // a member joined or left meanwhile
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return loop.Fault(err)
		}
		break
	}
	c.groups.Deleted(key)
	if !req.DeleteStreams || c.shards == nil {
		return nil
	}
	if err := c.shards.Destroy(ctx, s.Prefix, s.ShardCount, name); err != nil {
		return protocol.Errorf(protocol.CodeProvisioningFailed,
			"group %q of stream %q is not deleted yet: %v; the same request completes it once Redis works",
			name, s.Prefix, err).Because(err)
	}
	return nil
}

// eraseRecord deletes a group's record as it is now. Errors are those of the store.
func (c *Catalog) eraseRecord(ctx context.Context, key store.Key, order recorder.Order) error {
	loaded, err := c.store.Load(ctx, key, store.Version{})
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return fmt.Errorf("delete group %s: %w", key, err)
	}
	var last *group.Group // nil when it cannot be read
	if loaded.Record != nil {
		last, err = codec.DecodeGroup(loaded.Record.Schema, loaded.Record.Aggregate)
		if err != nil {
			c.log.Warn("the group is deleted though its metadata cannot be read", "group", key.String(), "error", err)
		}
	}
	event, err := recorder.Encode(recorder.Ordered(order, last, nil))
	if err != nil {
		return fmt.Errorf("delete group %s: %w", key, err)
	}
	if _, err = c.store.Delete(ctx, key, loaded.Version, event); err != nil {
		return fmt.Errorf("delete group %s: %w", key, err)
	}
	return nil
}

func notFound(prefix, name string) error {
	return protocol.Errorf(protocol.CodeGroupNotFound, "stream %q has no group %q", prefix, name)
}

func streamNotFound(prefix string) error {
	return protocol.Errorf(protocol.CodeStreamNotFound, "there is no stream %q", prefix)
}
