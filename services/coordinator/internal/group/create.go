package group

import "slices"

// Birth is what a new group starts from.
type Birth struct {
	StreamPrefix, ConsumerGroup string
	// Layout is the stream's.
	Layout Layout
	// Lineage is a fresh nonce.
	Lineage string
	// Identity is the store's identity, "" or "none" when it cannot tell.
	Identity string
	// Now is the store's clock.
	Now Millis
	// EpochFloor is below every member epoch that this life gives out and above those of
	// former lives of the name: fence tokens are drawn from these epochs and must not
	// fall when a group is created again (E1). EpochFloorAt gives one.
	EpochFloor int64
	// Barrier is set when the shard keys carried the Redis group before: members of
	// an earlier life may still be reading (J1).
	Barrier bool
}

// New returns a group without members (J0).
func New(cfg Config, b Birth) *Group {
	g := &Group{
		StreamPrefix:    b.StreamPrefix,
		ConsumerGroup:   b.ConsumerGroup,
		Lineage:         b.Lineage,
		Identity:        b.Identity,
		GroupEpoch:      1,
		AssignmentEpoch: 1,
		EpochCounter:    b.EpochFloor,
		MetadataVersion: 1,
		LayoutVersion:   b.Layout.Version,
		ShardCount:      b.Layout.ShardCount,
		Removed:         b.Layout.ReadCount - b.Layout.ShardCount,
		Closed:          slices.Clone(b.Layout.Closed),
		Lost:            slices.Clone(b.Layout.Lost),
		Target:          make([]string, b.Layout.ReadCount),
		Holds:           make([]Hold, b.Layout.ReadCount),
		Members:         []Member{},
		CreatedAt:       b.Now,
	}
	if b.Barrier {
		g.BarrierUntil = b.Now.Add(cfg.Lease + cfg.BarrierExtra)
	}
	return g
}

// EpochFloorAt returns the epoch floor of a group born at now: its microseconds. A former
// life cannot have come as far, because it moved on by 2^20 for a correction round, which
// takes at least a lease, and by the members of its commits otherwise.
func EpochFloorAt(now Millis) int64 { return int64(now) * 1000 }
