package group

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Millis is a time of the store's clock in milliseconds since 1970; 0 means never.
type Millis int64

// Add returns the time d later.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d/time.Millisecond) }

// Config holds the timing of all groups of a coordinator.
type Config struct {
	// HeartbeatInterval is how often members are asked to report.
	HeartbeatInterval time.Duration
	// HintInterval replaces it while a hand-off is under way (A4).
	HintInterval time.Duration
	// Lease is how long a member counts as alive after an accepted heartbeat.
	Lease time.Duration
	// ClientLease is how long a member may act after sending a heartbeat (H5).
	ClientLease time.Duration
	// RebalanceTimeout is how long a told member may take to release (H3).
	RebalanceTimeout time.Duration
	// BarrierExtra lengthens the barrier by the time a demoted primary may still
	// take writes (M3).
	BarrierExtra time.Duration
	// StaleRetention is how long records of gone members stay (J6).
	StaleRetention time.Duration
	// MaxMembers bounds the records of a group.
	MaxMembers int
}

// DefaultConfig returns the defaults of the suite.
func DefaultConfig() Config {
	return Config{
		HeartbeatInterval: protocol.DefaultHeartbeatInterval,
		HintInterval:      protocol.DefaultHintInterval,
		Lease:             protocol.DefaultMemberLease,
		ClientLease:       protocol.DefaultClientLease,
		RebalanceTimeout:  protocol.DefaultRebalanceTimeout,
		StaleRetention:    10 * time.Minute,
		MaxMembers:        10_000,
	}
}

// Validate reports every problem at once. The orderings of H3 and H5 carry the promise
// that no two members read one shard, so a coordinator refuses to start without them.
func (c Config) Validate() error {
	var problems []error
	positive := func(key string, d time.Duration) {
		if d <= 0 {
			problems = append(problems, fmt.Errorf("coordination.%s is %v, it must be above 0", key, d))
		}
	}
	positive("heartbeat-interval", c.HeartbeatInterval)
	positive("hint-interval", c.HintInterval)
	positive("member-lease-ttl", c.Lease)
	positive("client-lease", c.ClientLease)
	if c.StaleRetention < c.Lease {
		problems = append(problems, fmt.Errorf(
			"coordination.stale-member-retention is %v, it must be at least coordination.member-lease-ttl (%v)",
			c.StaleRetention, c.Lease))
	}
	if c.RebalanceTimeout < 2*c.Lease {
		problems = append(problems, fmt.Errorf(
			"coordination.rebalance-timeout is %v, it must be at least twice coordination.member-lease-ttl (%v)",
			c.RebalanceTimeout, c.Lease))
	}
	if c.ClientLease > c.Lease*8/10 {
		problems = append(problems, fmt.Errorf(
			"coordination.client-lease is %v, it must be at most 0.8 of coordination.member-lease-ttl (%v)",
			c.ClientLease, c.Lease))
	}
	if c.HeartbeatInterval > c.ClientLease/2 {
		problems = append(problems, fmt.Errorf(
			"coordination.heartbeat-interval is %v, it must be at most half of coordination.client-lease (%v)",
			c.HeartbeatInterval, c.ClientLease))
	}
	if c.BarrierExtra < 0 {
		problems = append(problems, fmt.Errorf("coordination.barrier-extra is %v, it must not be negative", c.BarrierExtra))
	}
	if c.MaxMembers < 1 {
		problems = append(problems, fmt.Errorf("limits.max-members is %d, it must be at least 1", c.MaxMembers))
	}
	return errors.Join(problems...)
}

// LeaseFor returns the client lease that an answer may give when left remains of the
// stored lease (E5): a repeated answer never stretches it.
func (c Config) LeaseFor(left time.Duration) time.Duration {
	return max(0, min(c.ClientLease, left*8/10))
}
