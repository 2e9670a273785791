package metrics

import (
	"math"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// memberFamilies are one series a member.
type memberFamilies struct {
	active, heartbeatAge, leaseLeft           family
	maxConcurrency, workers, shards, revoking family
}

func newMemberFamilies(f *families) memberFamilies {
	gauge := func(name, help string) family { return f.gauge(name, help, labelStream, labelGroup, labelMember) }
	return memberFamilies{
		active:         gauge("member_active", "1 for a member that is ACTIVE or STARTING."),
		heartbeatAge:   gauge("member_heartbeat_age_seconds", "Whole seconds since the member was last heard."),
		leaseLeft:      gauge("member_lease_remaining_seconds", "Whole seconds until the member expires if it is not heard."),
		maxConcurrency: gauge("member_runtime_max_concurrency", "Handlers that the member may run at once, as it reports."),
		workers:        gauge("member_active_workers", "Handlers that the member runs, as it reports."),
		shards:         gauge("member_current_shards", "Shards that the member reads."),
		revoking:       gauge("member_revoking_shards", "Shards that the member has been told to give back."),
	}
}

func (f memberFamilies) show(out scrape, g *facts.Group, now time.Time) {
	seen := map[string]struct{}{}
	for i := range g.Members {
		m := &g.Members[i]
		if _, twice := seen[m.MemberID]; twice {
			continue
		}
		seen[m.MemberID] = struct{}{}
		labels := []string{g.View.StreamPrefix, g.View.ConsumerGroup, m.MemberID}
		out.flag(f.active, isActive(m), labels...)
		if !m.LastHeartbeatAt.IsZero() {
			out.put(f.heartbeatAge, wholeSeconds(now.Sub(m.LastHeartbeatAt.Time)), labels...)
		}
		if !m.MemberLeaseExpiresAt.IsZero() {
			out.put(f.leaseLeft, wholeSeconds(m.MemberLeaseExpiresAt.Sub(now)), labels...)
		}
		out.put(f.maxConcurrency, float64(m.RuntimeMaxConcurrency), labels...)
		out.put(f.workers, float64(m.ActiveConsumerWorkers), labels...)
		out.put(f.shards, float64(len(m.CurrentAssignment)), labels...)
		out.put(f.revoking, float64(len(m.Revoking)), labels...)
	}
}

func isActive(m *protocol.MemberMetadata) bool {
	return m.State == protocol.MemberActive || m.State == protocol.MemberStarting
}

// wholeSeconds cuts what is less than a second, and is never negative: the clock of the store
// and the monitor's are two.
func wholeSeconds(d time.Duration) float64 { return max(0, math.Floor(d.Seconds())) }
