package cli

import (
	"context"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// groupOf returns the stream and group that args name. Without a group it is the only one
// of the stream.
func (s *session) groupOf(ctx context.Context, args []string) (place, error) {
	at := place{stream: args[0]}
	if len(args) > 1 {
		at.group = args[1]
		return at, nil
	}
	shown, err := s.admin.Stream(ctx, at.stream)
	switch {
	case err != nil:
		return at, s.cannot(err, at, "find the group of stream %s", at.stream)
	case len(shown.ConsumerGroups) != 1:
		return at, usage("stream %s has %d groups (%s); name one behind it",
			at.stream, len(shown.ConsumerGroups), show.Names(shown.ConsumerGroups))
	}
	at.group = shown.ConsumerGroups[0]
	return at, nil
}

// migrationOf returns the resharding that args name, a stream and perhaps an id, through
// any group of the stream. Without an id it is the one under way; when none is, and past
// ones count too, the newest.
func (s *session) migrationOf(ctx context.Context, args []string, past bool) (place, error) {
	at := place{stream: args[0]}
	list, at, err := s.migrationsOf(ctx, at)
	if err != nil {
		return at, err
	}
	switch {
	case len(args) > 1:
		at.id = args[1]
	case list.ActiveReshardingID != nil:
		at.id = *list.ActiveReshardingID
	case past && len(list.Migrations) > 0:
		at.id = list.Migrations[0].ReshardingID
	default:
		return at, ended(exitFailed, "stream %s has no resharding under way", at.stream)
	}
	return at, nil
}

// migrationsOf lists the reshardings of a stream through the first of its groups: they
// are the same in all.
func (s *session) migrationsOf(ctx context.Context, at place) (*protocol.MigrationsResponse, place, error) {
	shown, err := s.admin.Stream(ctx, at.stream)
	if err != nil {
		return nil, at, s.cannot(err, at, "find the reshardings of stream %s", at.stream)
	}
	if len(shown.ConsumerGroups) == 0 {
		return nil, at, ended(exitFailed, "stream %s has no groups, so no reshardings can be shown", at.stream)
	}
	at.group = slices.Min(shown.ConsumerGroups)
	list, err := s.admin.Migrations(ctx, at.stream, at.group)
	return list, at, s.cannot(err, at, "list the reshardings of stream %s", at.stream)
}
