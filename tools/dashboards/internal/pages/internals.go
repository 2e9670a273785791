package pages

import "github.com/redis-stream-coordinator/rsc/tools/dashboards/internal/board"

// The choices at the head of internals.
const (
	instanceVariable = "coordinator"
	routeVariable    = "apiRoute"

	ofInstance = `coordinator=~"$` + instanceVariable + `"`
	ofRoute    = `route=~"$` + routeVariable + `"`
)

const requestTimer = "redis_stream_coord_api_request_duration"

// internals shows the processes: how they work, and what slows them down.
func internals() board.Dashboard {
	return board.Dashboard{
		UID: uidInternals, Title: "Redis Stream Coordinator / Coordinator internals",
		Description: "The processes themselves: requests, decisions, conflicts, and what they cost.",
		Variables: variables(board.Sources(),
			board.Labels(instanceVariable, "Coordinator", "redis_stream_coord_up", "coordinator"),
			board.Labels(routeVariable, "Route", requestTimer+"_seconds_count", "route")),
		Sections: []board.Section{
			{Title: "Coordinator", Panels: coordinatorGraphs()},
			{Title: "Store", Panels: storeGraphs()},
			{Title: "API", Panels: apiGraphs()},
			{Title: "Gateway", Panels: gatewayGraphs()},
			{Title: "Monitor", Panels: monitorGraphs()},
			{Title: "Processes", Panels: processGraphs()},
		},
	}
}

func coordinatorGraphs() []board.Panel {
	return []board.Panel{
		board.Graph("Heartbeats by answer", board.Requests, "All groups together.",
			ask(sumRate("redis_stream_coord_heartbeat_total", "coordinator, status", ofInstance), "{{coordinator}} {{status}}")),
		board.Graph("Ticks", board.PerSecond, "Looks at a group that nobody asked for, by whether something changed.",
			ask(sumRate("redis_stream_coord_tick_total", "coordinator, changed", ofInstance), "{{coordinator}} changed={{changed}}")),
		board.Graph("Time of a tick", board.Seconds, "On average, and the longest of late.",
			ask(average("redis_stream_coord_tick_duration", "coordinator", ofInstance), "{{coordinator}} average"),
			ask(`max by (coordinator) (redis_stream_coord_tick_duration_seconds_max{`+ofInstance+`})`, "{{coordinator}} longest")),
		board.Graph("Needs somebody", board.Count, "Metadata that cannot be read, and reshardings that do not go on.",
			ask(`redis_stream_coord_metadata_unreadable{`+ofInstance+`}`, "{{coordinator}} unreadable"),
			ask(`redis_stream_coord_resharding_stuck{`+ofInstance+`}`, "{{coordinator}} stuck")),
		board.Graph("Scale requests", board.PerSecond, "Requests to change the number of shards, by what became of them.",
			ask(sumRate("redis_stream_coord_scale_request_total", "status", ofInstance), "{{status}}")),
		board.Graph("Routing requests", board.Requests, "Producers that asked which shards there are.",
			ask(sumRate("redis_stream_coord_producer_routing_request_total", "status", ofInstance), "{{status}}"),
			ask(`sum(`+rate("redis_stream_coord_producer_routing_stale_total", ofInstance)+`)`, "with an old routing")),
	}
}

func storeGraphs() []board.Panel {
	const operation = "{{operation}}"
	return []board.Panel{
		board.Graph("Writes", board.PerSecond, "Writes of metadata that the store has taken.",
			ask(sumRate("redis_stream_coord_state_commit_total", "operation", ofInstance), operation)),
		board.Graph("Time of a write", board.Seconds, "Average by operation, and the slowest series of each quantile.",
			ask(average("redis_stream_coord_state_write_duration", "operation", ofInstance), operation),
			ask(`max by (quantile) (redis_stream_coord_state_write_duration_seconds{`+ofInstance+`})`, "{{quantile}}")),
		board.Graph("Failed writes", board.PerSecond, "Writes that the store has not taken, and changes that found another one under way.",
			ask(sumRate("redis_stream_coord_state_write_failed_total", "operation", ofInstance), operation),
			ask(`sum(`+rate("redis_stream_coord_state_mutex_busy_total", ofInstance)+`)`, "another one under way")),
		board.Graph("Conflicts", board.PerSecond, "Writes that another coordinator was faster with, and that were done again.",
			ask(sumRate("redis_stream_coord_state_conflict_total", "operation", ofInstance), "{{operation}}")),
		board.Graph("Heartbeats in a write", board.Count, "On average: heartbeats of a group that come together are one write.",
			ask(sumRate("redis_stream_coord_heartbeat_batch_size_sum", "coordinator", ofInstance)+" / "+
				sumRate("redis_stream_coord_heartbeat_batch_size_count", "coordinator", ofInstance), "{{coordinator}}")),
	}
}

func apiGraphs() []board.Panel {
	return []board.Panel{
		board.Graph("Requests by status", board.Requests, "What the gateway answered.",
			ask(sumRate(requestTimer+"_seconds_count", "status", ofRoute), "{{status}}")),
		board.Graph("Requests by route", board.Requests, "What the gateway was asked for.",
			ask(sumRate(requestTimer+"_seconds_count", "route", ofRoute), "{{route}}")),
		board.Graph("Time of a request", board.Seconds, "The slowest series of each quantile: quantiles cannot be summed.",
			ask(`max by (quantile) (`+requestTimer+`_seconds{`+ofRoute+`})`, "{{quantile}}"),
			ask(`max(`+requestTimer+`_seconds_max{`+ofRoute+`})`, "longest")),
		board.Graph("Average time by route", board.Seconds, "No line where nothing was asked.",
			ask(average(requestTimer, "route", ofRoute), "{{route}}")),
		board.Graph("Failures by outcome", board.Requests, "Requests that were refused or failed.",
			ask(sumRate("redis_stream_coord_api_request_total", "outcome, route", ofRoute+`, outcome!="SUCCESS"`), "{{outcome}} {{route}}")),
	}
}

func gatewayGraphs() []board.Panel {
	return []board.Panel{
		board.Graph("Refusals", board.Requests, "Requests that the gateway refused itself, and changes of users who ask for too many.",
			ask(sumRate("redis_stream_coord_gateway_refused_total", "code", ""), "{{code}}"),
			ask(`sum(`+rate("redis_stream_coord_rate_limited_total", "")+`)`, "rate limit")),
		board.Graph("Requests under way", board.Count, "By the budget that they count for.",
			ask(`sum by (kind) (redis_stream_coord_gateway_in_flight)`, "{{kind}}")),
		board.Graph("Logins that were refused", board.PerSecond, "Wrong passwords, and users who are locked after too many.",
			ask(sumRate("redis_stream_coord_login_refused_total", "reason", ""), "{{reason}}")),
		board.Graph("Services that did not answer", board.PerSecond, "Tries at an instance that failed.",
			ask(sumRate("redis_stream_coord_upstream_failed_total", "service", ""), "{{service}}")),
		board.Graph("Audit that waits", board.Count, "Records that wait for their sink, and those that no sink has.",
			ask(`sum(redis_stream_coord_audit_waiting)`, "waiting"),
			ask(`sum(redis_stream_coord_audit_lost_total)`, "lost")),
		board.Graph("Audit that failed", board.PerSecond, "Tries to write a record.",
			ask(`sum(`+rate("redis_stream_coord_audit_failed_total", "")+`)`, "tries")),
	}
}

func monitorGraphs() []board.Panel {
	const who = "{{instance}}"
	return []board.Panel{
		board.Graph("Time of a look", board.Seconds, "How long the last look at Redis and the coordinator took.",
			ask(`redis_stream_coord_observation_round_duration_seconds`, who)),
		board.Graph("Age of the last look", board.Seconds, "What is shown is as old as that.",
			ask(`redis_stream_coord_observation_age_seconds`, who)),
		board.Graph("Looks", board.PerSecond, "Those without the coordinator show groups as they were; those left out were not done in time.",
			ask(rate("redis_stream_coord_observation_round_total", ""), who),
			ask(rate("redis_stream_coord_observation_round_failed_total", ""), who+" without the coordinator"),
			ask(rate("redis_stream_coord_observation_round_skipped_total", ""), who+" left out")),
		board.Graph("Who shows groups", board.Count, "1 for the monitor whose series of groups, members and shards these are.",
			ask(`redis_stream_coord_monitor_lease_held`, who)),
	}
}

func processGraphs() []board.Panel {
	const who, suite = "{{job}} {{instance}}", ` and on (job, instance) redis_stream_coord_build_info`
	return []board.Panel{
		board.Graph("Processor", board.Cores, "Cores that a process keeps busy.",
			ask(`rate(process_cpu_seconds_total[$__rate_interval])`+suite, who)),
		board.Graph("Memory", board.Bytes, "Memory that a process has from the system.",
			ask(`process_resident_memory_bytes`+suite, who)),
		board.Graph("Goroutines", board.Count, "A number that only grows is a leak.",
			ask(`go_goroutines`+suite, who)),
		board.Graph("Open files", board.Count, "Connections are files too.",
			ask(`process_open_fds`+suite, who)),
	}
}
