// Package rates computes what follows from two observations of a shard: how fast entries are
// added and delivered, whether the lag that Redis tells can be believed, and what was lost
// (monitoring, Rates). It is pure: no clock, no I/O.
//
// Files: book.go the rounds, follow.go whether two observations are of the same stream,
// produced.go and consumed.go the rates, lag.go the judgement of the lag, lost.go what was
// trimmed unread, age.go ages, ring.go the history, snapshot.go what readers get.
//
// Non-obvious:
//   - A value is nil where it is not known, never 0, and never below 0.
//   - After anything that the numbers of one stream cannot do, a rate is nil once and starts
//     anew: its difference would be of two streams.
//   - The stream and its groups are read one after the other, and unread entries are counted
//     later still. What is compared bears that much.
//   - Entries that go away unread and are passed by the group between the same two
//     observations leave no trace in a server that counts them as read: then they count as
//     consumed. Where a loss can be seen the rate is nil.
package rates
