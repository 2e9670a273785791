package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// more is how many shards are added, and removed again.
const more = 2

// shared waits until every shard has one owner and enough members own some.
func (s *Suite) shared(ctx context.Context) (string, error) {
	return await(ctx, func(ctx context.Context) (string, error) {
		stream, err := s.Admin.Stream(ctx, s.Stream)
		if err != nil {
			return "", err
		}
		assigned, err := s.Admin.Assignments(ctx, s.Stream, s.Group)
		if err != nil {
			return "", err
		}
		return owners(assigned, stream.ShardCount, s.Members)
	})
}

// owners judges an assignment of so many shards to at least so many members.
func owners(assigned *protocol.AssignmentsResponse, shards, members int) (string, error) {
	if broken := assigned.InvariantViolations; len(broken) > 0 {
		return "", fmt.Errorf("invariants are violated: %v", broken)
	}
	reading := make([]int, shards)
	owning := map[string]int{}
	for member, owned := range assigned.CurrentAssignments {
		for _, shard := range owned {
			if shard.ShardIndex < 0 || shard.ShardIndex >= shards {
				return "", fmt.Errorf("%s has shard %d of %d", member, shard.ShardIndex, shards)
			}
			reading[shard.ShardIndex]++
			owning[member]++
		}
	}
	for shard, readers := range reading {
		if readers != 1 {
			return "", fmt.Errorf("shard %d has %d owners, of %d members with shards", shard, readers, len(owning))
		}
	}
	if len(owning) < members {
		return "", fmt.Errorf("%d members own shards, there should be %d", len(owning), members)
	}
	var seen strings.Builder
	for _, member := range slices.Sorted(maps.Keys(owning)) {
		fmt.Fprintf(&seen, "%s has %d, ", member, owning[member])
	}
	return fmt.Sprintf("%sof %d shards", seen.String(), shards), nil
}

// flow waits until something was delivered in every shard since it began to look.
func (s *Suite) flow(ctx context.Context) (string, error) {
	stream, err := s.Admin.Stream(ctx, s.Stream)
	if err != nil {
		return "", err
	}
	var before map[int]string
	return await(ctx, func(ctx context.Context) (string, error) {
		offsets, err := s.Admin.Offsets(ctx, s.Stream, s.Group)
		if err != nil {
			return "", err
		}
		now := delivered(offsets)
		if len(now) != stream.ShardCount {
			return "", fmt.Errorf("the monitor shows deliveries of %d shards, the stream has %d", len(now), stream.ShardCount)
		}
		if before == nil {
			before = now
		}
		for shard, last := range now {
			if before[shard] == last {
				return "", fmt.Errorf("nothing was delivered in shard %d since %s", shard, last)
			}
		}
		return fmt.Sprintf("%d shards, %s", len(now), rates(offsets)), nil
	})
}

// delivered returns the last id that was delivered in each shard, where one was.
func delivered(offsets *protocol.StreamShardOffsetsResponse) map[int]string {
	last := map[int]string{}
	for _, shard := range offsets.Shards {
		if shard.GroupLastDeliveredID != nil {
			last[shard.Shard.ShardIndex] = *shard.GroupLastDeliveredID
		}
	}
	return last
}

func rates(offsets *protocol.StreamShardOffsetsResponse) string {
	told := "rates not known yet"
	if offsets.ProducedPerSecond != nil && offsets.ConsumedPerSecond != nil {
		told = fmt.Sprintf("%.1f produced and %.1f consumed a second", *offsets.ProducedPerSecond, *offsets.ConsumedPerSecond)
	}
	if offsets.TotalLag != nil {
		told += fmt.Sprintf(", lag %d", *offsets.TotalLag)
	}
	return told
}

func (s *Suite) grow(ctx context.Context) (string, error)   { return s.scaleBy(ctx, more) }
func (s *Suite) shrink(ctx context.Context) (string, error) { return s.scaleBy(ctx, -more) }

// scaleBy changes the shard count, waits until that is done, and until records flow.
func (s *Suite) scaleBy(ctx context.Context, shards int) (string, error) {
	stream, err := s.Admin.Stream(ctx, s.Stream)
	if err != nil {
		return "", err
	}
	target := stream.ShardCount + shards
	begun, err := s.Admin.Scale(ctx, s.Stream, protocol.ScaleRequest{
		TargetShardCount: &target, RequestedBy: requester, Reason: "smoke test",
	})
	if err != nil {
		return "", err
	}
	id := begun.Migrations[0].ReshardingID
	done, err := s.Admin.WatchMigration(ctx, s.Stream, s.Group, id, nil)
	switch {
	case err != nil:
		return "", fmt.Errorf("resharding %s is %s: %w", id, done.State, err)
	case done.State != protocol.MigrationDeprecated:
		return "", fmt.Errorf("resharding %s ended as %s", id, done.State)
	}
	shared, err := s.shared(ctx)
	if err != nil {
		return "", err
	}
	flowing, err := s.flow(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d to %d shards; %s; %s", stream.ShardCount, target, shared, flowing), nil
}
