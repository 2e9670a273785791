// Package facts holds what the monitor has observed, as values (monitoring, Observe). What
// follows from two rounds is in package rates, what is shown of them in package views.
//
// Non-obvious:
//   - What is not known is nil or empty, never 0.
//   - A Round is not changed once it is handed out; readers share it.
package facts

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Round is one look at everything.
type Round struct {
	// Number counts the rounds of this monitor from 1.
	Number int64
	// At is when the round began, Took how long it lasted.
	At   time.Time
	Took time.Duration
	// Groups are sorted by stream, then group; Streams by prefix.
	Groups  []Group
	Streams []Stream
	// Problem tells why Groups are those of an earlier round, empty where they are not.
	Problem string
}

// Group is a group as the coordinator tells of it.
type Group struct {
	View        protocol.GroupResponse
	Members     []protocol.MemberMetadata
	Assignments protocol.AssignmentsResponse
	Migrations  []protocol.Migration
	// Problem tells why the rest is missing or old, for example METADATA_CORRUPT.
	Problem string
}

// Stream is a logical stream with the shards that are read, removed ones included.
type Stream struct {
	Prefix string
	// ShardCount is how many of Shards producers write to.
	ShardCount int
	// Shards are by index, without a gap.
	Shards []Shard
}

// Problem names why a shard, or a group on it, could not be observed.
type Problem string

// The problems.
const (
	// ProblemMissing is a key that is not there, ProblemWrongType one that is no stream, a
	// sealed shard for example.
	ProblemMissing   Problem = "STREAM_MISSING"
	ProblemWrongType Problem = "WRONG_TYPE"
	// ProblemGroupMissing is a Redis consumer group that is not there.
	ProblemGroupMissing Problem = "GROUP_MISSING"
	// ProblemUnreachable is a node that does not answer, or answers that it cannot now.
	ProblemUnreachable Problem = "UNREACHABLE"
)

// Shard is one shard key.
type Shard struct {
	Index int
	Key   string
	Slot  int
	Node  Node
	// At is when Redis had answered. Intervals are measured with it.
	At time.Time
	// Problem is empty where the shard could be read; Detail says more, for people.
	Problem Problem
	Detail  string

	Length int64
	// EntriesAdded counts all entries that were ever added; nil where the server has no count.
	EntriesAdded *int64
	// FirstID and LastID are those of the entries that are there, nil without any.
	FirstID, LastID *string
	// LastGeneratedID is the id of the last entry that was ever added, nil for none.
	LastGeneratedID *string
	// MaxDeletedID is the highest id that XDEL took away, nil for none or where the server
	// does not say. Trimming does not change it.
	MaxDeletedID *string
	// Memory is the size in bytes as sampled, nil as long as it was not.
	Memory *int64
	// Groups are by the name of the Redis consumer group; those that are not there are
	// missing.
	Groups map[string]ShardGroup
}

// Node is where a shard is. ID and slots are of a cluster only. RunID is empty where it
// is not known yet; a server that is started anew has another one.
type Node struct {
	Endpoint            *string
	ID                  *string
	SlotFirst, SlotLast *int
	RunID               string
}

// ShardGroup is a Redis consumer group on one shard.
type ShardGroup struct {
	// LastDeliveredID is nil where nothing was ever delivered.
	LastDeliveredID *string
	EntriesRead     *int64
	// Lag is what Redis says, nil where it says nothing.
	Lag     *int64
	Pending int64
	// Tail counts the entries after LastDeliveredID, where there are at most TailLimit;
	// nil where there are more, or nobody has counted.
	Tail *int64
	// LagDoubtful tells that Lag may not be true: the last count of the unread entries was
	// another one, or entries may have gone unread since, and this round has not counted.
	LagDoubtful bool
	// TailAtLeast is how many of them were seen where the count ended before their end, 0
	// where nobody has counted.
	TailAtLeast int64
	// FirstUnreadID is the id of the first entry after LastDeliveredID, nil for none, and
	// where this round has not asked for it.
	FirstUnreadID *string
	// OldestPendingID is the lowest id that is pending, nil for none, and where this round has
	// not asked for it.
	OldestPendingID *string
	// EarlierUnread and EarlierPending are what the last round that knew it had seen as the
	// first unread and the oldest pending entry, where this one does not know them.
	EarlierUnread, EarlierPending *Sighting
	// Consumers are sorted by name, nil as long as they were not asked for.
	Consumers []Consumer
}

// Sighting is an entry as it was seen in a round before.
type Sighting struct {
	ID string
	// At is when the shard of that round had answered; Rounds is how many rounds ago that was.
	At     time.Time
	Rounds int
}

// Miscounted tells whether the server has counted wrongly what the group has read: the entries
// that were added and not read are not those that are unread (F02, F03). It is false where
// nobody has counted those, and where the server keeps no count.
//
// The stream and its groups are asked one after the other, and a group may have read what was
// added in between. No entry is counted after the end that the stream had.
func (g ShardGroup) Miscounted(s *Shard) bool {
	if g.EntriesRead == nil || s.EntriesAdded == nil {
		return false
	}
	if g.Lag != nil && *g.Lag < 0 {
		return true
	}
	unread := *s.EntriesAdded - *g.EntriesRead
	switch {
	case g.Tail == nil:
		return unread < g.TailAtLeast
	case *g.Tail == 0:
		return unread > 0
	default:
		return unread != *g.Tail
	}
}

// TailLimit is how many unread entries are counted one by one.
const TailLimit = 100

// Consumer is a consumer of a Redis consumer group.
type Consumer struct {
	Name    string
	Pending int64
	// Idle is the time since the consumer last asked, in milliseconds.
	IdleMs int64
}
