package metrics

import (
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
)

// lastAttempt bounds the label attempt.
const lastAttempt = 10

// Stepped counts what a batch has led to. The store has accepted it.
func (m *Metrics) Stepped(s loop.Step) {
	m.know(s.Key)
	stream, name := s.Key.Stream, s.Key.Group
	for status, n := range verdicts(s.Replies) {
		m.heartbeats.WithLabelValues(stream, name, string(status)).Add(float64(n))
	}
	if s.Ahead > 0 {
		m.ahead.WithLabelValues(stream, name).Add(float64(s.Ahead))
	}
	for _, c := range s.Changes {
		m.changed(stream, name, c.Cause)
	}
	if s.Reassigned {
		m.rebalances.WithLabelValues(stream, name, reconcile).Inc()
		m.rebalanceTime.Observe(s.Took, stream, name, reconcile)
	}
	if s.Ticked && s.Changed {
		m.changedByTime.Store(true)
	}
}

// Ticked counts a tick. The groups carry out what it hands to them after it, so that a change is
// counted with the tick that comes next.
func (m *Metrics) Ticked(took time.Duration) {
	changed := strconv.FormatBool(m.changedByTime.Swap(false))
	m.ticks.WithLabelValues(changed).Inc()
	m.tickTime.Observe(took, changed)
}

func (m *Metrics) changed(stream, name string, cause group.Cause) {
	m.changes.WithLabelValues(stream, name, string(cause)).Inc()
	if cause == group.CauseExpire {
		m.expired.WithLabelValues(stream, name).Inc()
	}
	if cause == group.CauseCorrection {
		m.rounds.WithLabelValues(stream, name).Inc()
	}
}

// Unknown counts a heartbeat in a group that does not exist or cannot be read.
func (m *Metrics) Unknown() {
	m.heartbeats.WithLabelValues(none, none, string(protocol.StatusUnknownMemberID)).Inc()
}

// Conflict counts a try of an operation that another coordinator was faster than; the first try
// is 1.
func (m *Metrics) Conflict(operation string, attempt int) {
	m.conflicts.WithLabelValues(operation, strconv.Itoa(min(attempt, lastAttempt))).Inc()
}

func verdicts(replies []group.Reply) map[protocol.HeartbeatStatus]int {
	found := make(map[protocol.HeartbeatStatus]int, 1)
	for _, r := range replies {
		found[r.Response.Status]++
	}
	return found
}
