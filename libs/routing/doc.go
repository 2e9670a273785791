// Package routing says where a record belongs: which shard a partition key goes
// to, what the shard's stream key is called and which Redis Cluster slot holds it.
//
// The answers are the same in every language. The vectors under testdata/contract
// are that agreement; a change that breaks one sends the records of a key to two
// shards at once.
package routing
