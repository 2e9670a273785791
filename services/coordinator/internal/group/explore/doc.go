// Package explore searches the group protocol for schedules that break it. It is test code:
// only tests import it, and it drives the production step function, never a copy of it.
//
// A World is everything that there is: one or two groups, each in a store that can fall back
// by two commits, fail over, lose liveness and become unreadable, the record of their stream
// with its driver, a producer and what it has added to the shards, two coordinators with
// cached snapshots and a decision under way, processes of members, and a network that loses,
// repeats, delays and reorders messages. What belongs to one group is a house; events and
// invariants look at one house at a time. New clients are the SDK's own package member; old
// ones, which have no incarnation, sequence and lineage, are modelled here.
//
// A World is a value: Clone copies it, AppendKey gives canonical bytes by which equal
// situations are equal, Events lists what may happen, and Do lets one of it happen. The
// invariants I1–I15, and P1, the first of the promises, are checked in Do, after every event.
// Search goes breadth first through all events, Walk picks them at random; both go on from
// where they end with a schedule on which nothing fails (V1–V3). What is found is shrunk and
// printed as a script of the core for each group.
//
// Abstracted: Redis. Where a setup publishes, a shard is there or sealed and has counts of the
// records that a group has not read or not acknowledged; elsewhere it is an event's argument
// whether it is empty. Handlers of a process end all at once. A process is one member, and
// knows one group.
package explore
