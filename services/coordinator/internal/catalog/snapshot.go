package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// Snapshots shows every group with all that belongs to it, those too that cannot be read,
// with the reason. It reads each stream and each group once and writes nothing; it fails
// only when the store is away.
func (c *Catalog) Snapshots(ctx context.Context) (protocol.GroupSnapshotsResponse, error) {
	response := protocol.GroupSnapshotsResponse{Groups: []protocol.GroupSnapshot{}}
	streams, groups, err := c.everything(ctx)
	if err != nil {
		return response, err
	}
	for _, key := range groups {
		shown, err := c.snapshot(ctx, key, streams[key.Stream])
		var fault *protocol.Error
		switch {
		case err == nil:
		case !errors.As(err, &fault) || storeAway(err):
			return response, err
		case fault.Code == protocol.CodeGroupNotFound: // deleted meanwhile
			continue
		default:
			shown = unreadable(key, streams[key.Stream], fault.Code)
		}
		response.Groups = append(response.Groups, shown)
	}
	return response, nil
}

// everything returns the streams that can be read, and the groups that have a record or
// should have one, sorted.
func (c *Catalog) everything(ctx context.Context) (map[string]stream.Stream, []store.Key, error) {
	keys, err := c.store.List(ctx)
	if err != nil {
		return nil, nil, loop.Fault(err)
	}
	streams, groups := map[string]stream.Stream{}, []store.Key{}
	for _, key := range keys {
		if key.Group != "" {
			groups = append(groups, key)
			continue
		}
		e, found, err := c.records.Load(ctx, key.Stream)
		if storeAway(err) {
			return nil, nil, err
		}
		if err != nil || !found {
			continue
		}
		streams[key.Stream] = e.Stream
		for _, name := range e.Stream.Active() {
			groups = append(groups, store.Key{Stream: key.Stream, Group: name})
		}
	}
	slices.SortFunc(groups, func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Group, b.Group))
	})
	return streams, slices.Compact(groups), nil
}

func (c *Catalog) snapshot(ctx context.Context, key store.Key, s stream.Stream) (protocol.GroupSnapshot, error) {
	source, err := c.source(ctx, key.Stream, key.Group)
	if err != nil {
		return protocol.GroupSnapshot{}, err
	}
	shown := protocol.GroupSnapshot{
		Group:     views.Group(source),
		ReadCount: max(source.Group.ReadCount(), s.ReadCount()), // the group follows the stream's record (L1)
		Members:   views.Members(source), Assignments: views.Assignments(source), Migrations: migrationsOf(s).Migrations,
	}
	if s.Resharding != nil {
		active := views.Migration(*s.Resharding)
		shown.Group.ActiveMigration = &active
	}
	return shown, nil
}

// unreadable shows a group of which only the stream's record tells.
func unreadable(key store.Key, s stream.Stream, code protocol.Code) protocol.GroupSnapshot {
	return protocol.GroupSnapshot{
		Group:     protocol.GroupResponse{StreamPrefix: key.Stream, ConsumerGroup: key.Group, ShardCount: s.ShardCount},
		ReadCount: s.ReadCount(), Migrations: migrationsOf(s).Migrations, Problem: &code,
	}
}

// migrationsOf lists the reshardings of a stream, the newest first.
func migrationsOf(s stream.Stream) protocol.MigrationsResponse {
	listed := protocol.MigrationsResponse{Migrations: []protocol.Migration{}}
	if r := s.Resharding; r != nil {
		listed.ActiveReshardingID = &r.ID
		listed.Migrations = append(listed.Migrations, views.Migration(*r))
	}
	for _, r := range s.Past {
		listed.Migrations = append(listed.Migrations, views.Migration(r))
	}
	return listed
}
