package metrics

import (
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// progressFamilies are one series a member and shard, as members report.
type progressFamilies struct {
	delivered, acked        idFamily
	pending, updatedAt, age family
}

func newProgressFamilies(f *families) progressFamilies {
	labels := []string{labelStream, labelGroup, labelMember, labelShard}
	return progressFamilies{
		delivered: f.id("consumer_shard_last_delivered", "the last record that the member was given", labels...),
		acked:     f.id("consumer_shard_last_acked", "the last record that the member acknowledged", labels...),
		pending:   f.gauge("consumer_shard_pending", "Records that the member was given and has not acknowledged, as it reports.", labels...),
		updatedAt: f.gauge("consumer_shard_progress_updated_at_seconds", "When the member last made progress, in Unix seconds, 0 for never.", labels...),
		age:       f.gauge("consumer_shard_progress_age_seconds", "Time since the member last made progress; no series before that.", labels...),
	}
}

// reporter is a member on a shard.
type reporter struct {
	member string
	shard  int
}

func (f progressFamilies) show(out scrape, g *facts.Group, now time.Time) {
	seen := map[reporter]struct{}{}
	for i := range g.Members {
		for _, p := range g.Members[i].ShardProgress {
			who := reporter{g.Members[i].MemberID, p.Shard.ShardIndex}
			if _, twice := seen[who]; twice {
				continue
			}
			seen[who] = struct{}{}
			f.showOne(out, p, now, g.View.StreamPrefix, g.View.ConsumerGroup, who.member, strconv.Itoa(who.shard))
		}
	}
}

func (f progressFamilies) showOne(out scrape, p protocol.ShardProgress, now time.Time, labels ...string) {
	out.id(f.delivered, p.LastDeliveredID, labels...)
	out.id(f.acked, p.LastAckedID, labels...)
	out.put(f.pending, float64(p.PendingCount), labels...)
	if p.UpdatedAt == nil || p.UpdatedAt.IsZero() {
		out.put(f.updatedAt, 0, labels...)
		return
	}
	out.put(f.updatedAt, float64(p.UpdatedAt.UnixMilli())/1000, labels...)
	out.put(f.age, max(0, now.Sub(p.UpdatedAt.Time).Seconds()), labels...)
}
