// Package redisx is the one place that builds Redis clients and reads what Redis
// says beyond plain data: which state an error stands for, what the server can do,
// and what XINFO knows and does not know about a consumer group.
//
//	options.go     what a client needs, from fields or from a URL
//	url.go         redis://, rediss://, redis+cluster://, redis+sentinel://
//	dial.go        New: the client of those options
//	dedicated.go   a second client for blocking reads, always on primaries
//	state.go       errors as named states
//	groups.go      XINFO GROUPS in which an unknown lag stays unknown
//	stream.go      XINFO STREAM and CONSUMERS, entries in the order of their fields
//	entryid.go     ids of entries and their order
//	slots.go       CLUSTER SLOTS: which primary serves which slots
//	capability.go  what the server can do, asked by command, never by version
package redisx
