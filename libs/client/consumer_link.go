package client

import (
	"log/slog"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// link is what a member knows of its coordinator. It logs one line for each change, not one
// for each heartbeat.
type link struct {
	mu      sync.Mutex
	verdict string // what the last heartbeat came to; "OK", or a verdict with its reason
	err     error
	unknown bool
}

// answered notes a verdict.
func (l *link) answered(s *session, response *protocol.HeartbeatResponse) {
	verdict := string(response.Status)
	if response.Reason != "" && response.Status != protocol.StatusOK {
		verdict += " " + string(response.Reason)
	}
	unknown := response.Status == protocol.StatusUnknownMemberID && response.Reason == protocol.ReasonUnknownGroup
	if l.change(verdict, nil, unknown) {
		s.log.Log(s.work, level(response.Status), "coordinator answers", "verdict", verdict)
	}
}

// failed notes a heartbeat without a verdict; unknown tells that the group does not exist.
func (l *link) failed(s *session, err error, unknown bool) {
	verdict := "no answer"
	if code := api.CodeOf(err); code != "" {
		verdict = string(code)
	}
	if l.change(verdict, err, unknown) {
		s.log.Warn("heartbeat failed", "error", err)
	}
}

func (l *link) change(verdict string, err error, unknown bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.verdict != verdict
	l.verdict, l.err, l.unknown = verdict, err, unknown
	return changed
}

func (l *link) last() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.verdict, l.err
}

func (l *link) groupUnknown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unknown
}

func level(status protocol.HeartbeatStatus) slog.Level {
	switch status {
	case protocol.StatusOK, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		return slog.LevelInfo
	case protocol.StatusRetry, protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		return slog.LevelWarn
	case protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
	}
	return slog.LevelError
}
