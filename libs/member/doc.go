// Package member is the member's half of the group protocol as arithmetic: events and
// the time go in, a heartbeat or actions come out. It has no clock, no goroutine, no
// randomness and does no I/O, so that the same code runs in the SDK and in the
// exploration of the protocol together with the coordinator's core: that is why it is a
// package of its own. Applications use libs/client.
//
// A State belongs to one incarnation of one member. The caller owns it; it is not safe
// for use by several goroutines. Times are durations since a fixed moment of the
// caller's monotonic clock.
//
// The life of a member:
//
//	Heartbeat -> request to send -> Answer (or Failed) -> actions to carry out
//	Tick      -> the client lease may have run out     -> everything is dropped (H5)
//	ReadStopped, Drained                               -> a revoke goes on
//	Leave, then Depart                                 -> the last request
package member
