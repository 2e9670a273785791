package pages

import "github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"

// members shows who is in a group, and how shards move between them.
func members() board.Dashboard {
	return board.Dashboard{
		UID: uidMembers, Title: "Redis Stream Coordinator / Members and rebalances",
		Description: "One group: its members, their leases and shards, and what moves between them.",
		Variables:   groupVariables(),
		Sections: []board.Section{
			{Title: "Now", Panels: membersNow()},
			{Title: "Members", Panels: append([]board.Panel{memberTable()}, memberGraphs()...)},
			{Title: "Rebalances", Panels: rebalanceGraphs()},
		},
	}
}

func membersNow() []board.Panel {
	return []board.Panel{
		board.Stat("Active members", board.Count, `sum(redis_stream_coord_members{`+ofGroup+`, state="active"})`,
			"Members with a valid lease.").Under(1),
		board.Stat("Expired members", board.Count, `sum(redis_stream_coord_members{`+ofGroup+`, state="expired"})`,
			"Members that have not been heard of in time.").From(1, 10),
		board.Stat("Group epoch", board.Count, `max(redis_stream_coord_group_epoch{`+ofGroup+`})`,
			"Grows whenever what the group is made of changes."),
		board.Stat("Assignment epoch", board.Count, `max(redis_stream_coord_assignment_epoch{`+ofGroup+`})`,
			"The group epoch that the wanted assignment was made for; behind it, an assignment is being made."),
		board.Stat("Shards being handed over", board.Count, `sum(redis_stream_coord_revoke_pending{`+ofGroup+`})`,
			"Shards that a member still holds and has been asked to give up."),
		board.Stat("Resharding", board.Count, `max(redis_stream_coord_migration_active{`+ofGroup+`})`,
			"1 while the stream is changing its number of shards."),
		board.Stat("Stable", board.Count, `min(redis_stream_coord_group_stable{`+ofGroup+`})`,
			"1 where every member reads what it should."),
		board.Stat("Shards without a member", board.Count, `max(redis_stream_coord_unassigned_shards{`+ofGroup+`})`,
			"Shards that are read and that no live member is to own.").From(1, 1),
		board.Stat("Lost shards", board.Count, `max(redis_stream_coord_lost_shards{`+ofGroup+`})`,
			"Shards that are missing in Redis; nobody is given them.").From(1, 1),
		board.Stat("Members without a shard", board.Count, `max(redis_stream_coord_surplus_members{`+ofGroup+`})`,
			"More members than shards."),
		board.Stat("Barrier", board.Count, `max(redis_stream_coord_barrier_active{`+ofGroup+`})`,
			"1 while nothing is granted because writes may have been lost.").From(1, 1),
	}
}

func memberTable() board.Panel {
	return board.Table("Members", "One line a member, with what it says of itself.",
		board.Rows{Path: rowsPath + "/members" + groupQuery(), Columns: []board.Column{
			{Field: "memberName", Title: "Name", Unit: board.Text},
			{Field: "memberId", Title: "Member", Unit: board.Text},
			{Field: "state", Title: "State", Unit: board.Text},
			{Field: "memberEpoch", Title: "Epoch", Unit: board.Count},
			{Field: "metadataVersion", Title: "Metadata version", Unit: board.Count},
			{Field: "currentShardCount", Title: "Shards", Unit: board.Count},
			{Field: "revokingShardCount", Title: "Giving up", Unit: board.Count},
			{Field: "activeConsumerWorkers", Title: "Workers", Unit: board.Count},
			{Field: "runtimeMaxConcurrency", Title: "Workers at most", Unit: board.Count},
			{Field: "lastHeartbeatAt", Title: "Last heartbeat", Unit: board.Instant},
			{Field: "memberLeaseExpiresAt", Title: "Lease until", Unit: board.Instant},
		}})
}

func memberGraphs() []board.Panel {
	const member = "{{member}}"
	return []board.Panel{
		board.Graph("Heartbeat age", board.Seconds, "Time since a member was last heard of.",
			ask(`redis_stream_coord_member_heartbeat_age_seconds{`+ofGroup+`}`, member)),
		board.Graph("Lease left", board.Seconds, "Time until a member expires that is not heard of.",
			ask(`redis_stream_coord_member_lease_remaining_seconds{`+ofGroup+`}`, member)),
		board.Graph("Shards by member", board.Count, "Shards that a member reads.",
			ask(`redis_stream_coord_member_current_shards{`+ofGroup+`}`, member)),
		board.Graph("Workers by member", board.Count, "Workers that run, and how many may.",
			ask(`redis_stream_coord_member_active_workers{`+ofGroup+`}`, member),
			ask(`redis_stream_coord_member_runtime_max_concurrency{`+ofGroup+`}`, member+" at most")),
	}
}

func rebalanceGraphs() []board.Panel {
	return []board.Panel{
		board.Graph("Heartbeats by answer", board.Requests, "OK is the normal answer; the others tell a member to do something.",
			ask(sumRate("redis_stream_coord_heartbeat_total", "status", ofGroup), "{{status}}")),
		board.Graph("Rebalances", board.PerSecond, "New assignments that were made, by what made them necessary.",
			ask(sumRate("redis_stream_coord_rebalance_total", "reason", ofGroup), "{{reason}}")),
		board.Graph("Time of a decision", board.Seconds, "Deciding on a new assignment and storing it, on average; no line without one.",
			ask(average("redis_stream_coord_rebalance_duration", "reason", ofGroup), "{{reason}}")),
		board.Graph("Shards being handed over", board.Count, "Shards that members have been asked to give up and still hold.",
			ask(`redis_stream_coord_member_revoking_shards{`+ofGroup+`}`, "{{member}}")),
		board.Graph("Members that expired", board.PerSecond, "Members that were not heard of in time.",
			ask(sumRate("redis_stream_coord_member_expired_total", "stream, group", ofGroup), "{{stream}} / {{group}}")),
		board.Graph("Causes of changes", board.PerSecond, "What happened in changes of the group, as its flight recorder says.",
			ask(sumRate("redis_stream_coord_group_change_total", "cause", ofGroup), "{{cause}}")),
		board.Graph("Writes that were lost", board.PerSecond,
			"Correction rounds, and heartbeats of members that know a newer group than the store.",
			ask(sumRate("redis_stream_coord_correction_round_total", "stream, group", ofGroup), "correction rounds"),
			ask(sumRate("redis_stream_coord_client_ahead_total", "stream, group", ofGroup), "members ahead")),
		board.Graph("Epochs", board.Count, "The two meet when the assignment is made.",
			ask(`max(redis_stream_coord_group_epoch{`+ofGroup+`})`, "group"),
			ask(`max(redis_stream_coord_assignment_epoch{`+ofGroup+`})`, "assignment")),
	}
}
