package member

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// firstRetry is the pause after the first heartbeat without an answer; it doubles up to the
// heartbeat interval.
const firstRetry = 50 * time.Millisecond

// Answer takes the answer to the request with the given sequence, received at now. An answer
// to any other than the latest request changes nothing (H5, trace T18).
func (s *State) Answer(now time.Duration, sequence int64, answer *protocol.HeartbeatResponse) []Action {
	actions := s.Tick(now)
	if sequence == 0 || sequence != s.awaiting {
		return actions
	}
	s.awaiting = 0
	s.failures = 0
	s.status, s.reason = answer.Status, answer.Reason
	if s.departed {
		s.farewell(now, answer)
		return actions
	}
	switch answer.Status {
	case protocol.StatusOK, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		return append(actions, s.accept(now, answer)...)
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		return append(actions, s.expelled(now, answer)...)
	case protocol.StatusRetry, protocol.StatusInvalidRequest, protocol.StatusUnsupportedProtocol:
		s.due = now + s.pause(answer)
	default: // a verdict of a newer protocol: nothing is renewed by it
		s.due = now + s.pause(answer)
	}
	return actions
}

// Failed tells that the request with the given sequence got no answer: the lease goes on and
// the next try comes soon.
func (s *State) Failed(now time.Duration, sequence int64) []Action {
	actions := s.Tick(now)
	if sequence == 0 || sequence != s.awaiting {
		return actions
	}
	s.awaiting = 0
	s.failures++
	s.due = now + s.interval
	if s.failures < 16 {
		s.due = now + min(s.interval, firstRetry<<(s.failures-1))
	}
	return actions
}

// accept takes over the numbers of an answer, renews the lease from the time the request was
// sent (H5, E5) and applies the assignment.
func (s *State) accept(now time.Duration, answer *protocol.HeartbeatResponse) []Action {
	s.epoch, s.version, s.lineage = answer.MemberEpoch, answer.MetadataVersion, answer.Lineage
	s.interval = s.hint(answer)
	s.due = max(now, s.sentAt+s.interval)
	s.leased = true
	s.leaseUntil = s.sentAt + min(s.cfg.ClientLease, milliseconds(answer.LeaseMs))
	if now >= s.leaseUntil { // the answer came too late to stand on
		s.due = max(now, s.sentAt+s.interval)
		return s.forget()
	}
	return s.assign(answer.Assignment.AssignedShards, answer.Status == protocol.StatusOK)
}

// expelled drops everything. A member that was in asks again at once, one that was refused
// while joining follows the interval.
func (s *State) expelled(now time.Duration, answer *protocol.HeartbeatResponse) []Action {
	s.due = now
	if s.epoch == protocol.EpochJoin {
		s.due = now + s.pause(answer)
	}
	return s.forget()
}

// pause returns how long to wait after a refusal: what the answer says, at least the interval;
// a member whose id is in use asks four times a lease, so that it is still known as the
// successor when the lease of the other runs out (J4).
func (s *State) pause(answer *protocol.HeartbeatResponse) time.Duration {
	pause := s.hint(answer)
	if answer.RetryAfterMs != nil && *answer.RetryAfterMs > 0 {
		pause = milliseconds(*answer.RetryAfterMs)
	}
	if answer.Reason == protocol.ReasonMemberIDInUse {
		pause = max(pause, s.cfg.ClientLease/4)
	}
	return pause
}

// hint returns the interval that the answer asks for, at most a quarter of the client lease.
func (s *State) hint(answer *protocol.HeartbeatResponse) time.Duration {
	interval := milliseconds(answer.HeartbeatIntervalMs)
	if interval <= 0 {
		interval = s.cfg.Interval
	}
	return min(interval, s.cfg.ClientLease/4)
}

// milliseconds converts without overflow.
func milliseconds(ms int64) time.Duration {
	const limit = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(min(max(ms, 0), limit)) * time.Millisecond
}
