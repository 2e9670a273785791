// Package scriptcoord is a coordinator for tests of clients: an HTTP server that answers
// heartbeats as the test wants.
//
// By itself it behaves: the test says who should have which shard with Assign, and the
// server grants a shard only when nobody holds it, tells holders to drop, and takes
// releases (protocol H1, H2, R2). Hook changes single answers, Down takes the server away,
// and Requests shows what members sent.
package scriptcoord
