package views_test

import (
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// observed is two rounds, five seconds apart, of the stream orders with two shards, which the
// group billing reads: a has shard 0, b shard 1. On each shard 10 entries were added and 20
// delivered in between. The group audit of the stream has no member, and the stream users
// with its group mails no shard.
func observed(change ...func(*facts.Round)) (facts.Round, rates.Snapshot) {
	book := rates.NewBook(0)
	book.Add(roundAt(1, 100, 60))
	round := roundAt(2, 110, 80)
	for _, apply := range change {
		apply(&round)
	}
	return round, book.Add(round)
}

func roundAt(number, added, read int64) facts.Round {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(number) * 5 * time.Second)
	stream := facts.Stream{Prefix: "orders", ShardCount: 2}
	for index := range 2 {
		stream.Shards = append(stream.Shards, facts.Shard{
			Index: index, Key: fmt.Sprintf("orders:%d", index), At: at, Length: added, EntriesAdded: &added,
			Node:    facts.Node{Endpoint: new("127.0.0.1:7000"), ID: new("node"), SlotFirst: new(0), SlotLast: new(16383), RunID: "run"},
			FirstID: id(1), LastID: id(added), LastGeneratedID: id(added), Memory: new(int64(1000)),
			Groups: map[string]facts.ShardGroup{
				"billing": {LastDeliveredID: id(read), EntriesRead: &read, Lag: new(added - read), Pending: 3, FirstUnreadID: id(read + 1), OldestPendingID: id(read)},
				"audit":   {Lag: new(added), FirstUnreadID: id(1)},
			},
		})
	}
	return facts.Round{
		Number: number, At: at, Took: time.Millisecond,
		Groups:  []facts.Group{emptyGroup("orders", "audit", 2), billing(), emptyGroup("users", "mails", 0)},
		Streams: []facts.Stream{stream, {Prefix: "users"}},
	}
}

// id is that of the nth entry, one a millisecond.
func id(n int64) *string { return new(fmt.Sprintf("%d-0", 1767225600000+n)) }

func billing() facts.Group {
	shards := func(index int) []protocol.ShardID { return []protocol.ShardID{{ShardIndex: index}} }
	member := func(name string, index int) protocol.MemberMetadata {
		return protocol.MemberMetadata{
			MemberID: name, MemberName: "node " + name, State: protocol.MemberActive, MemberEpoch: 4, MetadataVersion: 9,
			RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 5, CurrentAssignment: shards(index), Revoking: []protocol.ShardID{},
			LastHeartbeatAt: protocol.AtMillis(1), MemberLeaseExpiresAt: protocol.AtMillis(2),
			ShardProgress: []protocol.ShardProgress{{
				Shard: protocol.ShardID{ShardIndex: index}, StreamKey: fmt.Sprintf("orders:%d", index), LastDeliveredID: id(70), LastAckedID: id(65), PendingCount: 2,
			}},
		}
	}
	byMember := func() map[string][]protocol.ShardID {
		return map[string][]protocol.ShardID{"a": shards(0), "b": shards(1)}
	}
	return facts.Group{
		View: protocol.GroupResponse{
			StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupStable, GroupEpoch: 5, AssignmentEpoch: 5, MetadataVersion: 9, ShardCount: 2,
		},
		Members: []protocol.MemberMetadata{member("a", 0), member("b", 1)},
		Assignments: protocol.AssignmentsResponse{
			TargetAssignment: byMember(), CurrentAssignments: byMember(), RevokeProgress: map[string][]protocol.ShardID{},
		},
	}
}

func emptyGroup(stream, name string, shards int) facts.Group {
	return facts.Group{View: protocol.GroupResponse{StreamPrefix: stream, ConsumerGroup: name, State: protocol.GroupEmpty, ShardCount: shards}}
}

// shardOf and groupOf are parts of a round to be changed.
func shardOf(round *facts.Round, index int) *facts.Shard { return &round.Streams[0].Shards[index] }

func groupOf(round *facts.Round) *facts.Group { return &round.Groups[1] }
