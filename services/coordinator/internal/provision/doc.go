// Package provision is the data side of a stream in Redis: it makes the shard keys with
// the consumer groups on them, proves that a shard is empty, seals it, and takes all that
// back.
//
// What a shard's script may do depends on the shard's marker, a key on the same slot: it
// holds the token of the phase that the shard is in, and a script of another phase does
// nothing (protocol L2). Mark begins a phase; Make, Unmake, Seal, Unseal and Remake belong
// to one. Every script is one atomic step on one shard, asks the primary, and may run
// twice; calls over many shards send them in pipelines, and what Redis refuses half way
// ends the call with a StepError. The same call again completes it.
//
//	shards.go   Shards, and what the catalog asks of it
//	token.go    the phases of a shard and their markers
//	keys.go     the names of a shard's keys
//	make.go     Mark, Make, Remake, Unmake
//	prove.go    Prove
//	finding.go  what was found on a shard
//	seal.go     Seal and Unseal
//	confirm.go  when a seal counts where replicas follow
//	retention.go how long retired data is kept
//	destroy.go  the end of a group
//	script.go   the scripts; lua/ has their source
//	walk.go     one script on many shards
//	reply.go    what scripts answer
package provision
