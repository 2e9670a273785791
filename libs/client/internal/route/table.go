// Package route keeps a producer's routing: which keys it may write, for how long
// (protocol L3), and which of two answers counts. It refreshes in the background before
// the lease ends, and at once when a write shows that the routing is stale.
package route

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// fallbackLease is the lease of an answer that names none: it comes from a server that
// counts on 5 s (protocol, Terms).
const fallbackLease = 5 * time.Second

// Table is what producers need of one routing answer. It never changes.
type Table struct {
	// Version is the metadata version of the answer.
	Version int64
	// Lineage is the history that Version belongs to; empty from a server without them.
	Lineage string

	keys  []string
	args  []any // keys, boxed once for all commands
	etag  string
	sent  time.Time // when the answer was asked for
	lease time.Duration
}

// Shard is where a record goes.
type Shard struct {
	// Index is 0 … shard count-1.
	Index int
	// Key is the Redis key of the shard, and Arg the same as a command's argument.
	Key string
	Arg any
}

// newTable makes the Table of an answer that api.Client.Routing has checked.
func newTable(answer *protocol.ProducerRouting, etag string, sent time.Time) *Table {
	table := &Table{
		Version: answer.MetadataVersion,
		Lineage: answer.Lineage,
		keys:    make([]string, len(answer.Shards)),
		args:    make([]any, len(answer.Shards)),
		etag:    etag,
		sent:    sent,
		lease:   time.Duration(answer.LeaseMs) * time.Millisecond,
	}
	if table.lease <= 0 {
		table.lease = fallbackLease
	}
	for _, shard := range answer.Shards {
		table.keys[shard.ShardIndex] = shard.StreamKey
		table.args[shard.ShardIndex] = shard.StreamKey
	}
	return table
}

// renewed returns t with the lease of a request sent later that found it unchanged.
func (t *Table) renewed(sent time.Time) *Table {
	again := *t
	again.sent = sent
	return &again
}

// ShardCount is how many shards producers may write; 0 is possible.
func (t *Table) ShardCount() int { return len(t.keys) }

// Route returns the shard of key. It fails only when there are no shards.
func (t *Table) Route(key string) (Shard, error) {
	index, err := routing.Shard(key, len(t.keys))
	if err != nil {
		return Shard{}, err
	}
	return Shard{Index: index, Key: t.keys[index], Arg: t.args[index]}, nil
}

// ValidUntil is the end of the lease: it counts from when the answer was asked for (L3).
func (t *Table) ValidUntil() time.Time { return t.sent.Add(t.lease) }

// AskedAt is when the answer was asked for.
func (t *Table) AskedAt() time.Time { return t.sent }

// supersedes tells whether next replaces current. An answer to an earlier request never
// does. A lower version of the same history is a late copy of the server's, unless it was
// asked for to learn what is current, or nothing valid is left to protect.
func supersedes(current, next *Table, explicit bool, now time.Time) bool {
	switch {
	case current == nil:
		return true
	case next.sent.Before(current.sent):
		return false
	case next.Lineage != current.Lineage || next.Version >= current.Version:
		return true
	default:
		return explicit || !now.Before(current.ValidUntil())
	}
}
