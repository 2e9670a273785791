package pages

import "github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"

// overview shows all groups: what is wrong, and where to look on.
func overview() board.Dashboard {
	return board.Dashboard{
		UID: uidOverview, Title: "Redis Stream Coordinator / Overview",
		Description: "All streams and groups: what is wrong, and where.",
		Variables:   board.Sources(),
		Sections: []board.Section{
			{Title: "Now", Panels: overviewNow()},
			{Title: "Groups", Panels: []board.Panel{groupTable()}},
			{Title: "Over time", Panels: overviewGraphs()},
			{Title: "Shards", Panels: []board.Panel{shardTable("?streamPrefix=&consumerGroup=")}},
		},
	}
}

func overviewNow() []board.Panel {
	return []board.Panel{
		board.Stat("Health", board.Count, `min(redis_stream_coord_up or redis_stream_coord_monitor_up)`,
			"1 when every coordinator and monitor says that it is healthy, 0 when one is degraded.").Under(1),
		board.Stat("Processes", board.Count, `count(redis_stream_coord_build_info)`,
			"Processes of the suite that are scraped."),
		board.Stat("Audit", board.Count, `min(redis_stream_coord_audit_sink_up)`,
			"1 when the last record of the audit was written, 0 when that failed.").Under(1),
		board.Stat("Unreadable metadata", board.Count, `max(redis_stream_coord_metadata_unreadable)`,
			"Streams and groups whose metadata is lost or cannot be read; they fail closed.").From(1, 1),
		board.Stat("Shards not observed", board.Count, some("redis_stream_coord_problem_shards", "", ""),
			"Shards that could not be looked at: missing, of another type, without the group, or not to be reached.").From(1, 1),
		board.Stat("Shards of unknown lag", board.Count, some("redis_stream_coord_lag_unknown_shards", "", ""),
			"Shards of which Redis does not know how much is unread. Sums over them are unknown too.").From(1, 10),
		board.Stat("Groups with a loss", board.Count, `sum(redis_stream_coord_trimmed_unread_alarm)`,
			"Groups for which records were trimmed before they had read them, as far as it is known.").From(1, 1),
		board.Stat("Invariant violations", board.Count, `sum(redis_stream_coord_invariant_violations)`,
			"Broken promises of the protocol that stand now. Anything but 0 is to be looked at.").From(1, 1),
		board.Stat("Active reshardings", board.Count, `sum(redis_stream_coord_migration_active)`,
			"Groups whose stream is changing its number of shards."),
		board.Stat("Shards being handed over", board.Count, `sum(redis_stream_coord_revoke_pending)`,
			"Shards that a member still holds and has been asked to give up."),
		board.Stat("Active members", board.Count, `sum(redis_stream_coord_members{state="active"})`,
			"Members with a valid lease."),
		board.Stat("Expired members", board.Count, `sum(redis_stream_coord_members{state="expired"})`,
			"Members that have not been heard of in time.").From(1, 10),
		board.Stat("Unread", board.Count, whole("redis_stream_coord_shard_lag", "", ""),
			"Records that no member of their group was given yet, over all groups; unknown while one shard's lag is."),
		board.Stat("Pending", board.Count, whole("redis_stream_coord_shard_pending", "", ""),
			"Records that were delivered and not acknowledged yet, over all groups."),
		board.Stat("Records kept", board.Count, ofStream(lengthMetric, ""),
			"Entries in all streams as far as they were observed, each counted once however many groups read it."),
		board.Stat("Memory", board.Bytes, ofStream("redis_stream_coord_shard_memory_usage_bytes", ""),
			"Memory of the streams' keys as far as it is known: Redis is asked for it now and then, by samples."),
	}
}

func groupTable() board.Panel {
	const link = "/d/" + uidStream + "?var-streamPrefix=${__data.fields.Stream:percentencode}" +
		"&var-consumerGroup=${__data.fields.Group:percentencode}&${__url_time_range}"
	return board.Table("Groups", "One line a group. Unread is unknown as long as one shard's lag is; Observed says how many shards are known.",
		board.Rows{Path: rowsPath + "/groups", Columns: []board.Column{
			{Field: "streamPrefix", Title: "Stream", Unit: board.Text, Link: link},
			{Field: "consumerGroup", Title: "Group", Unit: board.Text, Link: link},
			{Field: "state", Title: "State", Unit: board.Text},
			{Field: "problem", Title: "Problem", Unit: board.Text, Empty: "none"},
			{Field: "assignedShardRatio", Title: "Shards held", Unit: board.Text},
			{Field: "activeMembers", Title: "Members", Unit: board.Count},
			{Field: "revokingShards", Title: "Handed over", Unit: board.Count},
			{Field: "totalLag", Title: "Unread", Unit: board.Count},
			{Field: "oldestUnreadAgeMs", Title: "Oldest unread", Unit: board.Millis},
			{Field: "producedPerSecond", Title: "Produced", Unit: board.PerSecond},
			{Field: "consumedPerSecond", Title: "Consumed", Unit: board.PerSecond},
			{Field: "timeToDrainSeconds", Title: "Time to drain", Unit: board.Seconds},
			{Field: "totalPendingCount", Title: "Pending", Unit: board.Count},
			{Field: "oldestPendingAgeMs", Title: "Oldest pending", Unit: board.Millis},
			{Field: "trimmedUnread", Title: "Lost unread", Unit: board.Count},
			{Field: "totalStreamLength", Title: "Records", Unit: board.Count},
			{Field: "totalMemoryUsageBytes", Title: "Memory", Unit: board.Bytes},
			{Field: "knownParts", Title: "Observed", Unit: board.Count},
			{Field: "allParts", Title: "Shards", Unit: board.Count},
			{Field: "observedAt", Title: "At", Unit: board.Instant},
		}})
}

func overviewGraphs() []board.Panel {
	return []board.Panel{
		board.Graph("Unread by group", board.Count, "Records not delivered yet. A line has a gap while one shard's lag is unknown.",
			ask(whole("redis_stream_coord_shard_lag", "stream, group", ""), "{{stream}} / {{group}}")),
		board.Graph("Oldest unread by group", board.Seconds, "Age of the oldest record that the group was not given yet, as far as it is known.",
			ask(`max by (stream, group) (redis_stream_coord_shard_oldest_unread_age_seconds)`, "{{stream}} / {{group}}")),
		board.Graph("Produced by stream", board.PerSecond, "Records that are added in a second.",
			ask(ofStream("redis_stream_coord_shard_produced_per_second", "stream"), "{{stream}}")),
		board.Graph("Consumed by group", board.PerSecond, "Records that are delivered in a second.",
			ask(whole("redis_stream_coord_shard_consumed_per_second", "stream, group", ""), "{{stream}} / {{group}}")),
		board.Graph("Pending by group", board.Count, "Records delivered and not acknowledged.",
			ask(whole("redis_stream_coord_shard_pending", "stream, group", ""), "{{stream}} / {{group}}")),
		board.Graph("Records by stream", board.Count, "Entries in the stream, each counted once however many groups read it.",
			ask(ofStream(lengthMetric, "stream"), "{{stream}}")),
		board.Graph("Memory by stream", board.Bytes, "Memory of the stream's keys as far as it is known.",
			ask(ofStream("redis_stream_coord_shard_memory_usage_bytes", "stream"), "{{stream}}")),
		board.Graph("Active members by group", board.Count, "Members with a valid lease.",
			ask(`sum by (stream, group) (redis_stream_coord_members{state="active"})`, "{{stream}} / {{group}}")),
		board.Graph("Resharding by group", board.Seconds, "How long the resharding of a stream has been going on; no line without one.",
			ask(`max by (stream, group) (redis_stream_coord_migration_active_age_seconds) and on (stream, group) redis_stream_coord_migration_active == 1`,
				"{{stream}} / {{group}}")),
	}
}
