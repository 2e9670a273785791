package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// Look is a round with what follows from it. Neither is changed once it is handed out.
type Look struct {
	Round    facts.Round
	Snapshot rates.Snapshot
	// At is when the round was there.
	At time.Time
}

// Config is what a Collector shows.
type Config struct {
	// MemberSeries shows series for every single member, consumer_shard_* included; without
	// them the number of series does not depend on the number of members.
	MemberSeries bool
	// Stale is the age from which a round is too old to be up; 0 is never.
	Stale time.Duration
}

// Deps are what a Collector works with; all are required.
type Deps struct {
	// Newest returns the newest look, false before the first.
	Newest func() (Look, bool)
	// Holds tells whether this monitor shows groups, members and shards; Lease.Holds.
	Holds func() bool
	// Skipped tells how many rounds were left out so far.
	Skipped func() int64
	// Now is the clock that ages count by.
	Now func() time.Time
}

// Collector implements prometheus.Collector. It is safe for concurrent use; rounds are told to
// it with Observe.
type Collector struct {
	cfg  Config
	deps Deps

	families   families
	group      groupFamilies
	drain      drainFamilies
	member     memberFamilies
	progress   progressFamilies
	shard      shardFamilies
	rounds     roundFamilies
	violations family

	tally tally
}

// New returns a collector that is not registered yet.
func New(cfg Config, deps Deps) *Collector {
	c := &Collector{cfg: cfg, deps: deps}
	f := &c.families
	c.group, c.drain, c.shard, c.rounds = newGroupFamilies(f), newDrainFamilies(f), newShardFamilies(f), newRoundFamilies(f)
	c.member, c.progress = newMemberFamilies(f), newProgressFamilies(f)
	c.violations = f.counter("invariant_violation_total",
		"Violations of the group's invariants that came up since this monitor began.", labelStream, labelGroup)
	return c
}

// Observe counts what a round adds to the rounds before it. It is called once for every round,
// in their order, whoever holds the lease.
func (c *Collector) Observe(round facts.Round) { c.tally.add(round) }

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) { c.families.describe(ch) }

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	out, now, holds := scrape{ch}, c.deps.Now(), c.deps.Holds()
	out.flag(c.rounds.lease, holds)
	out.put(c.rounds.skipped, float64(c.deps.Skipped()))
	counted := c.tally.read()
	out.put(c.rounds.made, float64(counted.rounds))
	out.put(c.rounds.blind, float64(counted.blind))
	look, found := c.deps.Newest()
	if !found {
		return
	}
	c.rounds.show(out, look, now, c.cfg.Stale)
	if !holds {
		return
	}
	for i := range look.Round.Groups {
		c.showGroup(out, look, &look.Round.Groups[i], now)
	}
	for at, count := range counted.violations {
		out.put(c.violations, float64(count), at.stream, at.group)
	}
}

// showGroup shows a group with its shards, and its members where they are as of this round.
func (c *Collector) showGroup(out scrape, look Look, g *facts.Group, now time.Time) {
	offsets := offsetsOf(look, g)
	c.shard.show(out, offsets)
	c.group.showObserved(out, g, offsets)
	if look.Round.Problem != "" || g.Problem != "" {
		return
	}
	c.group.showTold(out, g, now)
	c.drain.show(out, g, offsets)
	if c.cfg.MemberSeries {
		c.member.show(out, g, now)
		c.progress.show(out, g, now)
	}
}
