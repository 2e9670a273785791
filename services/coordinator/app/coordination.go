package app

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
)

// Coordination holds the timing of the group protocol.
type Coordination struct {
	HeartbeatInterval    time.Duration `koanf:"heartbeat-interval" usage:"how often members report, at most half of client-lease"`
	HintInterval         time.Duration `koanf:"hint-interval" usage:"how often they report while a hand-over is under way"`
	MemberLeaseTTL       time.Duration `koanf:"member-lease-ttl" usage:"how long a silent member counts as alive"`
	ClientLease          time.Duration `koanf:"client-lease" usage:"how long a member may act after it sent a heartbeat, at most 0.8 of member-lease-ttl"`
	RebalanceTimeout     time.Duration `koanf:"rebalance-timeout" usage:"how long a member may take to give up a shard, at least twice member-lease-ttl"`
	BarrierExtra         time.Duration `koanf:"barrier-extra" usage:"how long a demoted Redis primary may still take writes; set it with replicas"`
	StaleMemberRetention time.Duration `koanf:"stale-member-retention" usage:"how long records of gone members are kept, so that late messages change nothing"`
	RoutingLease         time.Duration `koanf:"routing-lease" usage:"how long producers may use a routing answer, at least 5s because old producers keep it that long"`
	Drain                Drain         `koanf:"drain"`
	EventLoop            EventLoop     `koanf:"event-loop"`
	StateMutex           StateMutex    `koanf:"state-mutex"`
}

// Drain says what becomes of the shards that a scale-in removes.
type Drain struct {
	Retention       time.Duration `koanf:"retention" usage:"how long the records of a removed shard are kept once all are handled, at least 1s; 0 deletes them, a negative value keeps them for ever"`
	AcceptTailProof bool          `koanf:"accept-tail-proof" usage:"take a shard for empty when nothing is unread or pending though Redis cannot tell the lag; off leaves that to confirm-drain"`
}

// EventLoop looks for what time alone changes: leases that have run out, timeouts.
type EventLoop struct {
	Enabled         bool          `koanf:"enabled" usage:"look for leases that have run out also where no member reports, and carry out reshardings"`
	Interval        time.Duration `koanf:"interval" usage:"how often"`
	SweepInterval   time.Duration `koanf:"sweep-interval" usage:"how often the store is searched for groups that nobody talks to, and for lost metadata"`
	ReshardInterval time.Duration `koanf:"reshard-interval" usage:"how often a stream that is resharded is taken a step further"`
	ReshardScan     time.Duration `koanf:"reshard-scan" usage:"how often streams are searched for reshardings that another coordinator left behind"`
}

// StateMutex bounds the lease that keeps workflows of several steps apart, such as the
// creation of a stream. Heartbeats take none: their script is the critical section. The
// names are those of the original configuration.
type StateMutex struct {
	Enabled          bool `koanf:"enabled" usage:"false is right only for a single coordinator; the lease is taken all the same"`
	TTLMs            int  `koanf:"ttl-ms" usage:"when the lease of a crashed coordinator ends, in milliseconds"`
	AcquireTimeoutMs int  `koanf:"acquire-timeout-ms" usage:"how long a request waits for the lease, in milliseconds"`
	RetryIntervalMs  int  `koanf:"retry-interval-ms" usage:"read for old files; tries begin 2 ms apart and back off with jitter"`
}

func defaultCoordination() Coordination {
	core, resharding := group.DefaultConfig(), reshard.DefaultConfig()
	return Coordination{
		HeartbeatInterval:    core.HeartbeatInterval,
		HintInterval:         core.HintInterval,
		MemberLeaseTTL:       core.Lease,
		ClientLease:          core.ClientLease,
		RebalanceTimeout:     core.RebalanceTimeout,
		BarrierExtra:         core.BarrierExtra,
		StaleMemberRetention: core.StaleRetention,
		RoutingLease:         protocol.DefaultRoutingLease,
		Drain:                Drain{Retention: time.Duration(resharding.Retention)},
		EventLoop: EventLoop{
			Enabled: true, Interval: time.Second, SweepInterval: time.Minute,
			ReshardInterval: resharding.Interval, ReshardScan: resharding.Scan,
		},
		StateMutex: StateMutex{Enabled: true, TTLMs: 30_000, AcquireTimeoutMs: 5_000, RetryIntervalMs: 100},
	}
}

func (m StateMutex) ttl() time.Duration { return time.Duration(m.TTLMs) * time.Millisecond }

func (m StateMutex) acquireTimeout() time.Duration {
	return time.Duration(m.AcquireTimeoutMs) * time.Millisecond
}

// group returns the settings of the group core.
func (c Config) group() group.Config {
	return group.Config{
		HeartbeatInterval: c.Coordination.HeartbeatInterval,
		HintInterval:      c.Coordination.HintInterval,
		Lease:             c.Coordination.MemberLeaseTTL,
		ClientLease:       c.Coordination.ClientLease,
		RebalanceTimeout:  c.Coordination.RebalanceTimeout,
		BarrierExtra:      c.Coordination.BarrierExtra,
		StaleRetention:    c.Coordination.StaleMemberRetention,
		MaxMembers:        c.Limits.MaxMembers,
	}
}

// reshard returns the settings of reshardings.
func (c Config) reshard() reshard.Config {
	settings := reshard.DefaultConfig()
	settings.RoutingLease = c.Coordination.RoutingLease
	settings.BarrierExtra = c.Coordination.BarrierExtra
	settings.Retention = c.Coordination.Drain.retention()
	settings.AcceptTailProof = c.Coordination.Drain.AcceptTailProof
	settings.Interval = c.Coordination.EventLoop.ReshardInterval
	settings.Scan, settings.Sweep = c.Coordination.EventLoop.ReshardScan, c.Coordination.EventLoop.SweepInterval
	settings.LeaseTTL = c.Coordination.StateMutex.ttl()
	return settings
}

// retention returns what provision takes: all negative values keep for ever.
func (d Drain) retention() provision.Retention {
	if d.Retention < 0 {
		return provision.RetainForever
	}
	return provision.Retention(d.Retention)
}

// loop returns the settings of the loop. A store call ends before the API gives up on
// it, so that the answer names the store's state.
func (c Config) loop() loop.Config {
	settings := loop.DefaultConfig()
	settings.Group = c.group()
	settings.Interval = c.Coordination.EventLoop.Interval
	settings.Sweep = c.Coordination.EventLoop.SweepInterval
	settings.ConflictBudget = storeTimeout
	settings.CallTimeout = storeTimeout
	return settings
}
