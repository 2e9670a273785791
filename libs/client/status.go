package client

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// ConsumerStatus is what a Consumer is doing.
type ConsumerStatus struct {
	// Members are the logical members in the order of their numbers.
	Members []MemberStatus
	// GroupUnknown tells that the coordinator does not know the group.
	GroupUnknown bool
	// Counters count over all members since the start.
	Counters ConsumerCounters
}

// MemberStatus is one logical member.
type MemberStatus struct {
	MemberID string
	// Verdict is what the last heartbeat came to: a status of the protocol with its reason,
	// the code of a refusal such as UNAUTHORIZED, "no answer", or empty before the first.
	Verdict string
	// Err is why the last heartbeat got no verdict; nil when it did.
	Err error
	// LeaseLeft is how long the member may act if no heartbeat is answered any more; 0 when
	// it may not act.
	LeaseLeft time.Duration
	// Shards are those that the member reads or is giving back, by index.
	Shards []ShardStatus
}

// ShardStatus is one shard of a member.
type ShardStatus struct {
	Index      int
	FenceToken int64
	// Revoking tells that the shard is being given back.
	Revoking bool
	// InFlight is how many handlers run.
	InFlight int
	// Pending is how many delivered records are not settled.
	Pending int64
	// Fault names why the shard cannot be read now, for example LOADING, UNREACHABLE or
	// GROUP_MISSING; empty when it can.
	Fault string
}

// ConsumerCounters count since the start of a Consumer.
type ConsumerCounters struct {
	// Handled and Failed count returns of the handler, without and with an error.
	Handled, Failed int64
	// Acked counts acknowledgements that Redis has, AckFailed those that were refused or
	// given up.
	Acked, AckFailed int64
	// LostByTrim counts pending records that were trimmed before they were handled.
	LostByTrim int64
	// DeadLettered counts records that were given up by the Retry policy.
	DeadLettered int64
	// Lapses counts how often a member's lease ran out.
	Lapses int64
}

type counters struct {
	handled, failed, acked, ackFailed, lostByTrim, deadLettered, lapses atomic.Int64
}

// Status returns what the consumer is doing. It may be called at any time.
func (c *Consumer) Status() ConsumerStatus {
	status := ConsumerStatus{Counters: ConsumerCounters{
		Handled:      c.counters.handled.Load(),
		Failed:       c.counters.failed.Load(),
		Acked:        c.counters.acked.Load(),
		AckFailed:    c.counters.ackFailed.Load(),
		LostByTrim:   c.counters.lostByTrim.Load(),
		DeadLettered: c.counters.deadLettered.Load(),
		Lapses:       c.counters.lapses.Load(),
	}}
	for _, s := range c.sessions {
		status.Members = append(status.Members, s.status())
		status.GroupUnknown = status.GroupUnknown || s.link.groupUnknown()
	}
	return status
}

func (s *session) status() MemberStatus {
	status := MemberStatus{MemberID: s.id}
	status.Verdict, status.Err = s.link.last()
	if s.lease.Load() > 0 {
		status.LeaseLeft = max(s.leaseLeft(), 0)
	}
	s.grantsMu.Lock()
	defer s.grantsMu.Unlock()
	for _, g := range s.grants {
		status.Shards = append(status.Shards, g.status())
	}
	slices.SortFunc(status.Shards, func(a, b ShardStatus) int { return cmp.Compare(a.Index, b.Index) })
	return status
}

func (g *grant) status() ShardStatus {
	progress := g.report()
	g.mu.Lock()
	defer g.mu.Unlock()
	return ShardStatus{
		Index: g.shard, FenceToken: g.fence, Revoking: g.stopped.Load(),
		InFlight: int(g.inFlight.Load()), Pending: progress.PendingCount, Fault: g.fault,
	}
}
