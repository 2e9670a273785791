package member

import (
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Config is what stays the same for the life of a member.
type Config struct {
	// ID and Name say who the member is; Name may be empty.
	ID, Name string
	// Incarnation is a ULID that was made when the member started (E4).
	Incarnation string
	// Workers is how many handlers the member may run at once, at least 1.
	Workers int
	// ClientLease is how long the member may act after it has sent a heartbeat, at most;
	// 0 takes protocol.DefaultClientLease (H5).
	ClientLease time.Duration
	// Interval is the pause between heartbeats until an answer gives another one;
	// 0 takes protocol.DefaultHeartbeatInterval.
	Interval time.Duration
}

// State is one member as it sees itself.
type State struct {
	cfg Config

	epoch    int64
	version  int64
	lineage  string
	sequence int64

	// awaiting is the sequence of the latest request while its answer is out, otherwise 0.
	// No other answer counts (H5, trace T18).
	awaiting int64
	sentAt   time.Duration
	due      time.Duration
	interval time.Duration
	failures int

	leased     bool
	leaseUntil time.Duration

	shards []Shard // sorted by index
	grants int64   // counts the grants started, so that reports of an older one are told apart

	leaving  bool
	departed bool
	done     bool

	status protocol.HeartbeatStatus
	reason protocol.Reason
}

// New returns a member that has not joined yet and whose first heartbeat is due at now.
func New(cfg Config, now time.Duration) *State {
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.ClientLease <= 0 {
		cfg.ClientLease = protocol.DefaultClientLease
	}
	if cfg.Interval <= 0 {
		cfg.Interval = protocol.DefaultHeartbeatInterval
	}
	return &State{cfg: cfg, interval: cfg.Interval, due: now}
}

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() *State {
	copied := *s
	copied.shards = slices.Clone(s.shards)
	return &copied
}

// Epoch returns the member epoch of the last accepted answer; 0 when the member is not in.
func (s *State) Epoch() int64 { return s.epoch }

// Version returns the metadata version of the last accepted answer.
func (s *State) Version() int64 { return s.version }

// Lineage returns the history that Epoch and Version belong to.
func (s *State) Lineage() string { return s.lineage }

// Sequence returns the number of the last request; 0 before the first.
func (s *State) Sequence() int64 { return s.sequence }

// Waiting tells whether the answer to the latest request is still out.
func (s *State) Waiting() bool { return s.awaiting != 0 }

// Due returns when the next heartbeat is to be sent.
func (s *State) Due() time.Duration { return s.due }

// Status returns the verdict of the last answer that counted; empty before the first.
func (s *State) Status() protocol.HeartbeatStatus { return s.status }

// Reason returns the reason that came with Status.
func (s *State) Reason() protocol.Reason { return s.reason }

// Failures returns how many heartbeats in a row got no answer.
func (s *State) Failures() int { return s.failures }

// LeaseUntil returns the end of the client lease, and false when there is none.
func (s *State) LeaseUntil() (time.Duration, bool) { return s.leaseUntil, s.leased }

// Leased tells whether the member may act at now (H5).
func (s *State) Leased(now time.Duration) bool { return s.leased && now < s.leaseUntil }

// MayRead tells whether the member may start a read or a handler of the shard at now.
func (s *State) MayRead(now time.Duration, shard int) bool {
	at, found := s.find(shard)
	return found && s.shards[at].Phase == Active && s.Leased(now)
}

// Shards returns a copy of all shards that the member reads or is giving back, by index.
func (s *State) Shards() []Shard { return slices.Clone(s.shards) }

// Tick drops everything when the client lease has run out at now: the member then reads
// nothing until a request with epoch 0, or a later one, is answered OK (H5). An answer
// that is still out no longer counts.
func (s *State) Tick(now time.Duration) []Action {
	if !s.leased || now < s.leaseUntil {
		return nil
	}
	s.due = now
	return s.forget()
}

// forget gives up every shard, the lease and the epoch. The lineage and the version stay:
// they are what the coordinator recognises lost writes by (M1).
func (s *State) forget() []Action {
	actions := make([]Action, 0, len(s.shards))
	for _, shard := range s.shards {
		actions = append(actions, Action{Kind: Drop, Shard: shard.Index, Grant: shard.Grant})
	}
	s.shards = nil
	s.epoch = protocol.EpochJoin
	s.leased = false
	s.leaseUntil = 0
	s.awaiting = 0
	return actions
}
