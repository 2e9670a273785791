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
			board.Labels(instanceVariable, "Coordinator", "redis_stream_coord_tick_total", "coordinator"),
			board.Labels(routeVariable, "Route", requestTimer+"_seconds_count", "route")),
		Sections: []board.Section{
			{Title: "Coordinator", Panels: coordinatorGraphs()},
			{Title: "API", Panels: apiGraphs()},
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
		board.Graph("Conflicts", board.PerSecond, "Writes that another coordinator was faster with, and that were done again.",
			ask(sumRate("redis_stream_coord_state_conflict_total", "operation", ofInstance), "{{operation}}")),
		board.Graph("Scale requests", board.PerSecond, "Requests to change the number of shards, by what became of them.",
			ask(sumRate("redis_stream_coord_scale_request_total", "status", ofInstance), "{{status}}")),
		board.Graph("Routing requests", board.Requests, "Producers that asked which shards there are.",
			ask(sumRate("redis_stream_coord_producer_routing_request_total", "status", ofInstance), "{{status}}")),
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
