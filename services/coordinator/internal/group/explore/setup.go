package explore

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Fault is a kind of event that a Setup allows or bounds.
type Fault int8

// The faults, and choices that are left out of small searches.
const (
	Drops        Fault = iota // a message is lost
	Duplicates                // a message is delivered and stays under way
	Delays                    // a decision is loaded for and carried out later
	Batches                   // one decision hears two heartbeats
	Goodbyes                  // processes leave or suspend
	Crashes                   // processes end without a word
	Twins                     // a second process under one member id
	OldClients                // newcomers may be old clients
	BadReports                // reports name what is not read, or REVOKED while handlers run
	Slowness                  // handlers do not end for a long time
	PodCrashes                // coordinators die before or after their commit
	FailOvers                 // the store loses up to two commits
	Jumps                     // the store's clock jumps
	LostLiveness              // the liveness of a member is lost
	Recreations               // the group's key is deleted, the group is created again
	Scaling                   // the shard count changes
	Rollbacks                 // reshardings are undone
	LostShards                // a shard is missing in Redis
	StreamLosses              // the stream's record falls back
	Orders                    // operators open a barrier or fence a member
	Unbars                    // operators close a barrier
	Publishes                 // a producer adds records
	Corruption                // the stored record of a group becomes unreadable
	faults
)

// Unlimited as a budget lets a fault happen any number of times.
const Unlimited = -1

// Budget says how often each fault may happen; 0, where nothing is said, is never.
type Budget [faults]int8

// Setup is what a world starts with and what may happen in it.
type Setup struct {
	Name      string
	Groups    int // of the stream, 1 or 2; 0 is 1
	Shards    int // at first, at least 1
	Most      int // shards that a scale-out may reach; Shards when it is less
	Processes int // of a group that may live at once
	Pods      int // coordinators, 1 or 2
	Bag       int // messages of a group under way; one more is lost
	Pauses    []time.Duration
	Prompt    bool    // heartbeats are answered at once, or by a delayed decision
	Before    []Event // what has happened when the world begins
	Budget    Budget
	Barrier   bool // the group starts on shards that were used before (J1)
	Skew      time.Duration
	Eager     bool   // failovers are frequent
	Flaw      string // a guard left out, to show that its absence is found
	Depth     int    // events of a walk
	Fair      bool   // walks end with the fair schedule (V1)
}

// With returns the setup with faults that are not bounded.
func (s Setup) With(list ...Fault) Setup {
	for _, f := range list {
		s.Budget[f] = Unlimited
	}
	return s
}

// Without returns the setup without a fault.
func (s Setup) Without(f Fault) Setup {
	s.Budget[f] = 0
	return s
}

// Has tells whether a fault may happen at all.
func (s Setup) Has(f Fault) bool { return s.Budget[f] != 0 }

// most is the highest shard count that there may be.
func (s Setup) most() int { return max(s.Shards, s.Most) }

// Timing keeps the proportions of the defaults, with the shortest rebalance timeout that is
// allowed, so that it is reached.
func Timing() group.Config {
	cfg := group.DefaultConfig()
	cfg.RebalanceTimeout = 2 * cfg.Lease
	cfg.StaleRetention = 3 * cfg.Lease
	return cfg
}

func ms(d time.Duration) int64 { return d.Milliseconds() }
