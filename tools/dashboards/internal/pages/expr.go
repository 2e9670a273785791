package pages

// lengthMetric is there for every shard that is observed, so that it tells how many there are.
const lengthMetric = "redis_stream_coord_shard_stream_length"

// whole sums a metric of shards for each combination of the labels in by, as long as every
// shard was observed and has a value: the sum of the known ones would look like less than
// there is. by is empty for one sum of all.
func whole(metric, by, selector string) string {
	of, on := " (", " on () "
	if by != "" {
		of, on = " by ("+by+") (", " on ("+by+") "
	}
	known, all := metric+braces(selector)+")", lengthMetric+braces(selector)+")"
	return "sum" + of + known + " and" + on + "(count" + of + known + " == count" + of + all + ")" +
		" unless" + on + "redis_stream_coord_problem_shards" + braces(selector) +
		" unless" + on + "redis_stream_coord_group_problem" + braces(selector)
}

// some sums a metric that has series only where there is something to count. It is 0 where
// groups are shown and none of them has a series, and nothing where no group is.
func some(metric, by, selector string) string {
	of, on := " (", " on () "
	if by != "" {
		of, on = " by ("+by+") (", " on ("+by+") "
	}
	return "sum" + of + metric + braces(selector) + ") or" + on + "0 * count" + of + "redis_stream_coord_group_epoch" + braces(selector) + ")"
}

// ofStream sums a metric of shards that is the same for all groups of a stream, each shard
// once.
func ofStream(metric, by string) string {
	clause := ""
	if by != "" {
		clause = " by (" + by + ")"
	}
	return "sum" + clause + " (max by (stream, shard) (" + metric + "))"
}

// average is the mean time of what a timer measured of late; nothing where nothing happened.
func average(timer, by, selector string) string {
	clause := " by (" + by + ") ("
	return "sum" + clause + rate(timer+"_seconds_sum", selector) + ") / (sum" + clause + rate(timer+"_seconds_count", selector) + ") > 0)"
}

// rate is how fast a counter grows, per second.
func rate(counter, selector string) string {
	return "rate(" + counter + braces(selector) + "[$__rate_interval])"
}

// sumRate is rate summed up for each combination of the labels in by.
func sumRate(counter, by, selector string) string {
	return "sum by (" + by + ") (" + rate(counter, selector) + ")"
}

func braces(selector string) string {
	if selector == "" {
		return ""
	}
	return "{" + selector + "}"
}
