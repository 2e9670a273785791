// Package shardkey is what a consumer does on one shard key: read new records, look at and
// take over what is pending, acknowledge, and remove names of former consumers. Every
// command names exactly one key (field case F19) and goes to a primary: the commands that
// only look, too, are sent on the client for reads, which knows no replicas (F20).
//
// The package decides nothing about ownership; the caller checks the lease before and
// after every call (protocol H5).
package shardkey
