package metrics

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// shardFamilies are one series a group and shard, as observed in Redis.
type shardFamilies struct {
	length, memory              family
	record, generated           idFamily
	pending, lag                family
	delivered, acked            idFamily
	produced, consumed          family
	unreadAge, pendingAge, lost family
}

func newShardFamilies(f *families) shardFamilies {
	labels := []string{labelStream, labelGroup, labelShard, labelKey}
	gauge := func(name, help string) family { return f.gauge(name, help, labels...) }
	return shardFamilies{
		length:     gauge("shard_stream_length", "Records in the shard."),
		memory:     gauge("shard_memory_usage_bytes", "Memory that the shard takes, as last sampled."),
		record:     f.id("shard_last_record", "the last record in the shard", labels...),
		generated:  f.id("shard_last_generated", "the last record that was ever added to the shard", labels...),
		pending:    gauge("shard_pending", "Records that were delivered to the group and not acknowledged."),
		lag:        gauge("shard_lag", "Records that were not delivered to the group yet; no series where that is not known."),
		delivered:  f.id("shard_group_last_delivered", "the last record that was delivered to the group", labels...),
		acked:      f.id("shard_consumer_last_acked", "the last record that a member reports to have acknowledged", labels...),
		produced:   gauge("shard_produced_per_second", "Records that are added in a second."),
		consumed:   gauge("shard_consumed_per_second", "Records that are delivered to the group in a second."),
		unreadAge:  gauge("shard_oldest_unread_age_seconds", "Age of the oldest record that was not delivered to the group, 0 where all were."),
		pendingAge: gauge("shard_oldest_pending_age_seconds", "Age of the oldest record that was delivered and not acknowledged, 0 where all were."),
		lost:       gauge("shard_trimmed_unread", "Records that went away before the group had read them."),
	}
}

func (f shardFamilies) show(out scrape, offsets protocol.StreamShardOffsetsResponse) {
	for i := range offsets.Shards {
		f.showOne(out, &offsets.Shards[i])
	}
}

// showOne shows what is known of a shard. Where only the group is missing on it, that is what
// belongs to the shard itself.
func (f shardFamilies) showOne(out scrape, one *protocol.StreamShardOffset) {
	if one.Problem != nil && facts.Problem(*one.Problem) != facts.ProblemGroupMissing {
		return
	}
	labels := []string{one.StreamPrefix, one.ConsumerGroup, strconv.Itoa(one.Shard.ShardIndex), one.StreamKey}
	out.put(f.length, float64(one.StreamLength), labels...)
	known(out, f.memory, one.MemoryUsageBytes, labels...)
	out.id(f.record, one.LastRecordID, labels...)
	out.id(f.generated, one.LastGeneratedID, labels...)
	known(out, f.produced, one.ProducedPerSecond, labels...)
	if one.Problem == nil {
		f.showGroup(out, one, labels)
	}
}

func (f shardFamilies) showGroup(out scrape, one *protocol.StreamShardOffset, labels []string) {
	out.put(f.pending, float64(one.PendingCount), labels...)
	known(out, f.lag, one.Lag, labels...)
	known(out, f.consumed, one.ConsumedPerSecond, labels...)
	known(out, f.lost, one.TrimmedUnread, labels...)
	out.id(f.delivered, one.GroupLastDeliveredID, labels...)
	out.id(f.acked, one.ConsumerLastAckedID, labels...)
	out.seconds(f.unreadAge, orNone(one.OldestUnreadAgeMs, one.Lag != nil && *one.Lag == 0), labels...)
	out.seconds(f.pendingAge, orNone(one.OldestPendingAgeMs, one.PendingCount == 0), labels...)
}

// orNone returns an age, 0 where it is known that there is nothing to have one.
func orNone(ageMs *int64, nothing bool) *int64 {
	if ageMs == nil && nothing {
		return new(int64)
	}
	return ageMs
}
