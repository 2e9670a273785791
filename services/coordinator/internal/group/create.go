package group

// Birth is what a new group starts from.
type Birth struct {
	StreamPrefix, ConsumerGroup string
	ShardCount                  int
	// Lineage is a fresh nonce.
	Lineage string
	// Identity is the store's identity, "" or "none" when it cannot tell.
	Identity string
	// Now is the store's clock.
	Now Millis
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
		MetadataVersion: 1,
		ShardCount:      b.ShardCount,
		Target:          make([]string, b.ShardCount),
		Holds:           make([]Hold, b.ShardCount),
		Members:         []Member{},
		CreatedAt:       b.Now,
	}
	if b.Barrier {
		g.BarrierUntil = b.Now.Add(cfg.Lease + cfg.BarrierExtra)
	}
	return g
}
