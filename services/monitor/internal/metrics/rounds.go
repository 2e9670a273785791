package metrics

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// roundFamilies are about the monitor itself. Every monitor shows them.
type roundFamilies struct {
	lease, made, blind, skipped, took, age, up family
}

func newRoundFamilies(f *families) roundFamilies {
	return roundFamilies{
		lease: f.gauge("monitor_lease_held",
			"1 where this monitor shows groups, members and shards, 0 where another one does."),
		made: f.counter("observation_round_total", "Looks at Redis and the coordinator since this monitor began."),
		blind: f.counter("observation_round_failed_total",
			"Looks in which the coordinator did not tell the groups; those of an earlier look were used."),
		skipped: f.counter("observation_round_skipped_total",
			"Looks that were left out because the one before took longer than the interval."),
		took: f.gauge("observation_round_duration_seconds", "How long the last look took."),
		age:  f.gauge("observation_age_seconds", "Time since the last look was complete."),
		up: f.gauge("monitor_up",
			"1 where the last look was recent and saw all groups and shards, 0 where something could not be observed."),
	}
}

func (r roundFamilies) show(out scrape, look Look, now time.Time, stale time.Duration) {
	age := max(0, now.Sub(look.At))
	out.put(r.took, look.Round.Took.Seconds())
	out.put(r.age, age.Seconds())
	out.flag(r.up, (stale == 0 || age <= stale) && sawAll(look.Round))
}

// sawAll tells whether a round has everything. A shard that is missing is a fact about the
// stream, one that does not answer is none.
func sawAll(round facts.Round) bool {
	if round.Problem != "" {
		return false
	}
	for i := range round.Groups {
		if round.Groups[i].Problem != "" {
			return false
		}
	}
	for i := range round.Streams {
		for j := range round.Streams[i].Shards {
			if round.Streams[i].Shards[j].Problem == facts.ProblemUnreachable {
				return false
			}
		}
	}
	return true
}
