// Package views turns a round and its rates into what the monitor answers. It is pure and
// decides nothing.
//
// Files: group.go finding groups and summing up, shard.go a group on one shard, owner.go who
// reads it, offsets.go and consumption.go the answers about one group, grafana.go the rows and
// options.go the choices of dashboards, problem.go what somebody should look at.
//
// Non-obvious:
//   - A sum is null as long as one part of it is unknown. Those that the original contract
//     does not let be null are the sums of the known parts.
//   - A removed shard that is gone, as it was sealed, is no part of anything any more, unless
//     somebody still reads it or misses it.
//   - A shard is taken as reported where the group is STABLE or its holder tells progress of
//     it; what members report is not part of the coordinator's answers.
package views
