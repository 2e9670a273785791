package protocol

import "time"

// Timing defaults of the coordinator and the SDK (protocol.md, Terms).
const (
	DefaultHeartbeatInterval = time.Second
	DefaultMemberLease       = 10 * time.Second
	DefaultClientLease       = 8 * time.Second // at most 0.8 of the member lease (H5)
	DefaultRebalanceTimeout  = 60 * time.Second
	DefaultRoutingLease      = 10 * time.Second
	DefaultHintInterval      = 250 * time.Millisecond // while a hand-off is under way (A4)
)

// DefaultInitialShards is the shard count of a stream created without one.
const DefaultInitialShards = 4

// DefaultMaxShards bounds the shard count of a stream (limits.max-shards).
const DefaultMaxShards = 10_000
