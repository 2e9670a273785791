// Package metrics shows what the monitor has observed to Prometheus (monitoring, Prometheus).
//
// Group, member and shard series come from here and nowhere else. With several monitors only
// the one that holds the lease shows them, so that a sum over all targets counts nothing
// twice; each shows the series of its own rounds. A scrape reads the newest round and asks
// nobody.
//
// Non-obvious:
//   - A value that is not known has no series; it is never 0. The parts of a record id are -1
//     where there is no record, as in the original.
//   - What the coordinator tells is left out while it does not tell it, and so is what belongs
//     to a group whose metadata cannot be read. Ages count on between rounds.
//   - A group or shard that is gone is in no round, so its series end with it.
//   - One series that is there twice would cost the whole scrape. Members may report a shard
//     twice, so the first report counts.
//   - The lease ends here before it ends in Redis: its time counts from before the request.
//     Only a failover of Redis that loses the lease can show series twice, for one round.
//
// File map: collector.go joins the parts; group.go, drain.go, member.go, progress.go and
// shard.go are the series; violation.go counts over rounds; rounds.go is about the monitor
// itself; lease.go decides who shows; family.go is how series are described and written.
package metrics
