package pages

import "github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"

// streamDetail shows one group on its stream, shard by shard.
func streamDetail() board.Dashboard {
	return board.Dashboard{
		UID: uidStream, Title: "Redis Stream Coordinator / Stream detail",
		Description: "One group of a stream, shard by shard: what is unread, who reads it, and where it lies.",
		Variables:   shardVariables(),
		Sections: []board.Section{
			{Title: "Now", Panels: streamNow()},
			{Title: "Shards over time", Panels: streamGraphs()},
			{Title: "What is not known, and what drains", Panels: streamReasons()},
			{Title: "Shards", Panels: []board.Panel{shardTable(groupQuery()), assignmentTable()}},
		},
	}
}

func streamNow() []board.Panel {
	return []board.Panel{
		board.Stat("Unread", board.Count, whole("redis_stream_coord_shard_lag", "stream, group", ofGroup),
			"Records of all shards that no member was given yet; unknown while one shard's lag is."),
		board.Stat("Pending", board.Count, whole("redis_stream_coord_shard_pending", "stream, group", ofGroup),
			"Records that were delivered and not acknowledged yet."),
		board.Stat("Records kept", board.Count, whole(lengthMetric, "stream, group", ofGroup),
			"Entries in all shards of the stream; unknown while one was not observed."),
		board.Stat("Memory", board.Bytes, `sum(redis_stream_coord_shard_memory_usage_bytes{`+ofGroup+`})`,
			"Memory of the shards' keys as far as it is known."),
		board.Stat("Active members", board.Count, `sum(redis_stream_coord_members{`+ofGroup+`, state="active"})`,
			"Members with a valid lease.").Under(1),
		board.Stat("Invariant violations", board.Count, `sum(redis_stream_coord_invariant_violations{`+ofGroup+`})`,
			"Broken promises of the protocol that stand now.").From(1, 1),
		board.Stat("Produced", board.PerSecond, whole("redis_stream_coord_shard_produced_per_second", "stream, group", ofGroup),
			"Records that are added in a second."),
		board.Stat("Consumed", board.PerSecond, whole("redis_stream_coord_shard_consumed_per_second", "stream, group", ofGroup),
			"Records that are delivered to the group in a second."),
		board.Stat("Oldest unread", board.Seconds, `max(redis_stream_coord_shard_oldest_unread_age_seconds{`+ofGroup+`})`,
			"Age of the oldest record that the group was not given yet, as far as it is known."),
		board.Stat("Time to drain", board.Seconds, `max(redis_stream_coord_time_to_drain_seconds{`+ofGroup+`})`,
			"How long the slowest shard needs at its present rates; unknown where it never would."),
		board.Stat("Lost unread", board.Count, whole("redis_stream_coord_shard_trimmed_unread", "stream, group", ofGroup),
			"Records that were trimmed before the group had read them.").From(1, 1),
		board.Stat("Removed shards", board.Count, some("redis_stream_coord_drain_shards", "", ofGroup),
			"Shards that producers do not write to any more and that are not read to their end yet."),
	}
}

func streamGraphs() []board.Panel {
	const shard = "shard {{shard}}"
	return []board.Panel{
		board.Graph("Unread", board.Count, "Records not delivered to the group yet; a gap where Redis does not know.",
			ask(`redis_stream_coord_shard_lag{`+ofShard+`}`, shard)),
		board.Graph("Pending", board.Count, "Records delivered to the group and not acknowledged.",
			ask(`redis_stream_coord_shard_pending{`+ofShard+`}`, shard)),
		board.Graph("Records", board.Count, "Entries in the shard.",
			ask(lengthMetric+`{`+ofShard+`}`, shard)),
		board.Graph("Memory", board.Bytes, "Memory of the shard's key; a gap where it is not known.",
			ask(`redis_stream_coord_shard_memory_usage_bytes{`+ofShard+`}`, shard)),
		board.Graph("Produced", board.PerSecond, "Records that are added in a second.",
			ask(`redis_stream_coord_shard_produced_per_second{`+ofShard+`}`, shard)),
		board.Graph("Consumed", board.PerSecond, "Records that are delivered to the group in a second; a gap where the lag is not known.",
			ask(`redis_stream_coord_shard_consumed_per_second{`+ofShard+`}`, shard)),
		board.Graph("Oldest unread", board.Seconds, "Age of the oldest record that the group was not given yet.",
			ask(`redis_stream_coord_shard_oldest_unread_age_seconds{`+ofShard+`}`, shard)),
		board.Graph("Oldest pending", board.Seconds, "Age of the oldest record that was delivered and not acknowledged.",
			ask(`redis_stream_coord_shard_oldest_pending_age_seconds{`+ofShard+`}`, shard)),
		board.Graph("Newest record", board.Seconds, "How long ago the newest record was added, by the clock of its id.",
			ask(`time() - (redis_stream_coord_shard_last_generated_ms{`+ofShard+`} > 0) / 1000`, shard)),
		board.Graph("Behind the newest record", board.Seconds,
			"Time between the newest record and the last one that the group was given, by the clocks of their ids.",
			ask(`((redis_stream_coord_shard_last_generated_ms{`+ofShard+`} > 0) - (redis_stream_coord_shard_group_last_delivered_ms{`+ofShard+`} > 0)) / 1000`, shard)),
	}
}

func streamReasons() []board.Panel {
	const reason = "{{reason}}{{problem}}"
	return []board.Panel{
		board.Graph("Shards of unknown lag", board.Count, "By the reason; no line without one.",
			ask(`sum by (reason) (redis_stream_coord_lag_unknown_shards{`+ofGroup+`})`, reason)).Wide(8, 8),
		board.Graph("Shards not observed", board.Count, "By the reason; no line without one.",
			ask(`sum by (problem) (redis_stream_coord_problem_shards{`+ofGroup+`})`, reason)).Wide(8, 8),
		board.Graph("Removed shards", board.Count, "By what keeps them; no line without one.",
			ask(`sum by (reason) (redis_stream_coord_drain_shards{`+ofGroup+`})`, reason)).Wide(8, 8),
	}
}

// shardTable shows the shards that the query selects.
func shardTable(query string) board.Panel {
	return board.Table("Shards", "One line a shard and group: where it lies, who reads it and who should, what is unread, and the ids that were reached.",
		board.Rows{Path: rowsPath + "/shards" + query, Columns: []board.Column{
			{Field: "streamPrefix", Title: "Stream", Unit: board.Text},
			{Field: "consumerGroup", Title: "Group", Unit: board.Text},
			{Field: "shardLabel", Title: "Shard", Unit: board.Text},
			{Field: "streamKey", Title: "Key", Unit: board.Text},
			{Field: "redisNodeEndpoint", Title: "Node", Unit: board.Text},
			{Field: "ownerState", Title: "State", Unit: board.Text},
			{Field: "currentOwnerMemberIds", Title: "Reads now", Unit: board.Text},
			{Field: "targetOwnerMemberIds", Title: "Should read", Unit: board.Text},
			{Field: "lag", Title: "Unread", Unit: board.Count},
			{Field: "producedPerSecond", Title: "Produced", Unit: board.PerSecond},
			{Field: "consumedPerSecond", Title: "Consumed", Unit: board.PerSecond},
			{Field: "pendingCount", Title: "Pending", Unit: board.Count},
			{Field: "streamLength", Title: "Records", Unit: board.Count},
			{Field: "memoryUsageBytes", Title: "Memory", Unit: board.Bytes},
			{Field: "firstRecordId", Title: "First record", Unit: board.Text, Empty: "none"},
			{Field: "lastGeneratedId", Title: "Newest id", Unit: board.Text, Empty: "none"},
			{Field: "groupLastDeliveredId", Title: "Delivered to", Unit: board.Text, Empty: "none"},
			{Field: "consumerLastDeliveredId", Title: "Reported delivered", Unit: board.Text, Empty: "none"},
			{Field: "consumerLastAckedId", Title: "Reported acked", Unit: board.Text, Empty: "none"},
		}})
}

func assignmentTable() board.Panel {
	return board.Table("Assignments", "Who reads each shard, who should, and who is giving it up.",
		board.Rows{Path: rowsPath + "/assignments" + groupQuery(), Columns: []board.Column{
			{Field: "shardIndex", Title: "Shard", Unit: board.Count},
			{Field: "currentOwners", Title: "Reads now", Unit: board.Text},
			{Field: "targetOwners", Title: "Should read", Unit: board.Text},
			{Field: "revokingOwners", Title: "Gives up", Unit: board.Text},
		}})
}
