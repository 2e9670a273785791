// Package reshard changes the shard count of streams and makes lost shards again.
//
// The stream's record decides (protocol L1); what is done about it is a series of small
// steps that any coordinator can go on with: each one reads the record, does something in
// Redis or in a group that may be done twice, and notes by compare-and-set how far it has
// come. A step that fails is tried again, and the record says what stopped it (L10).
//
// File map: driver.go finds the streams that need work, pass.go takes one of them a step
// further, forward.go, drain.go and back.go are the steps of a resharding, lost.go makes
// missing shards again; service.go takes the orders of operators, progress.go shows how
// far a resharding has come, plan.go what one would do. shards.go is what all of it stands on.
package reshard
