// Package httpapi is the monitor's HTTP face: it reads and checks requests, takes the newest
// look at everything, and answers in the shapes of the wire contract (monitoring, APIs).
//
// Non-obvious:
//   - Answers come from the round that was observed last. Nobody who asks costs Redis or the
//     coordinator anything, but for messages and what is pending, which are read when they are
//     asked for, and for groups that are younger than the round.
//   - Before the first round there is nothing to tell: 503, not an empty list.
//
// File map: router.go is the table of endpoints, config.go what they need; guard.go asks who
// calls; path.go and query.go read paths and queries; groups.go, shards.go, grafana.go,
// messages.go and pending.go answer; feed.go keeps who follows the rounds, frame.go is what a round tells
// them, stream.go tells it; health.go says how the process is doing.
package httpapi
