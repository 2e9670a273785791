package loop

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Meter counts what the loop does. Its methods return at once and may be called concurrently.
type Meter interface {
	// Stepped tells what a batch has led to, after the store has accepted it.
	Stepped(s Step)
	// Ticked tells that the loop has looked for what is due and handed it to its groups.
	Ticked(took time.Duration)
	// Unknown tells of a heartbeat in a group that does not exist or cannot be read.
	Unknown()
	// Conflict tells that the try of an operation, counted from 1, has to be made again.
	Conflict(operation string, attempt int)
	// Listed tells all that the store names, Deleted what was deleted on purpose.
	Listed(keys []store.Key)
	Deleted(key store.Key)
}

// Step is what a batch has led to.
type Step struct {
	Key     store.Key
	Replies []group.Reply
	Changes []group.Change
	// Ahead is how many heartbeats follow a newer version than the one that was loaded.
	Ahead int
	// Ticked tells that the batch looked for what is due, Changed that the structure is a new
	// one, Reassigned that the wanted assignment is.
	Ticked, Changed, Reassigned bool
	// Took is the time from the first try to the store's answer.
	Took time.Duration
}

// The operations of Conflict.
const (
	OperationHeartbeat = "heartbeat"
	OperationTick      = "tick-refresh"
	OperationOrder     = "order"
)

// Measure sets what counts. Set it before the first heartbeat.
func (l *Loop) Measure(with Meter) { l.meter = with }

// unmeasured counts nothing.
type unmeasured struct{}

func (unmeasured) Stepped(Step)         {}
func (unmeasured) Ticked(time.Duration) {}
func (unmeasured) Unknown()             {}
func (unmeasured) Conflict(string, int) {}
func (unmeasured) Listed([]store.Key)   {}
func (unmeasured) Deleted(store.Key)    {}

// stepOf sums a batch up that began with the state prev.
func stepOf(key store.Key, prev *group.Group, heard batched, out group.Output, took time.Duration) Step {
	s := Step{Key: key, Replies: out.Replies, Changes: out.Changes, Ticked: heard.ticked, Changed: out.Next != nil, Took: took}
	s.Reassigned = out.Next != nil && out.Next.AssignmentEpoch != prev.AssignmentEpoch
	for _, req := range heard.requests {
		if ahead(prev, req) {
			s.Ahead++
		}
	}
	return s
}

// ahead tells whether the sender has followed what the store does not have (M1).
func ahead(g *group.Group, req *protocol.HeartbeatRequest) bool {
	return req.MetadataVersion > g.MetadataVersion
}

// operation names what a batch is about, by the first of its parts that somebody waits for.
func (b batched) operation() string {
	switch {
	case b.errand != nil:
		return OperationOrder
	case len(b.requests) > 0:
		return OperationHeartbeat
	default:
		return OperationTick
	}
}
