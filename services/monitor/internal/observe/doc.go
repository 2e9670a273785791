// Package observe looks at Redis and at the coordinator, and makes a facts.Round of what it
// sees (monitoring, Observe).
//
// It looks on its own schedule: who watches the monitor costs Redis nothing. One round is in
// flight; while one takes longer than the interval the next ones are left out and counted.
// The shards of a node are asked in pipelines of 128, nodes at the same time, primaries only.
// A shard costs XINFO STREAM and XINFO GROUPS, and a group on it at most one question more, in
// the pipeline that follows (performance, P25): the unread entries (XRANGE), the oldest pending
// one (XPENDING), the size of the shard and the consumers take turns as far as they are worth
// asking. In between the last answer stands, with its time where it may have changed.
//
// Non-obvious:
//   - One key that is missing or broken says so for itself and stops no other (F35).
//   - MOVED, ASK, READONLY, LOADING and the like are waited out by the client as long as the
//     round lasts; then the shard is unreachable this round, and nothing is concluded (F22).
//   - A node that cannot be reached is not asked again in the same round.
//   - An XRANGE ends at the last entry that XINFO STREAM has shown, so that what is counted
//     belongs to the same moment as the rest.
//
// Between rounds only the coordinator is asked, once a second: what has become of the groups is
// published with what the last round saw of their shards.
//
// File map: observer.go is the schedule, structure.go the time between rounds; round.go puts a round together from groups.go (the
// coordinator), plan.go (which shards), place.go (where they are), node.go and pipeline.go
// (asking), look.go, group.go (answers), unread.go, doubt.go (what is worth asking about unread
// entries) and turn.go (whose turn it is); kept.go remembers what is not asked in every round.
package observe
