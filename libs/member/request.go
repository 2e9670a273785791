package member

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Load is what the caller knows and a request carries without deciding anything.
type Load struct {
	// RequestID is a fresh id of the request.
	RequestID string
	// Free is how many handlers could be started now.
	Free int
	// InFlight counts the records in handlers, by shard index.
	InFlight map[int]int
	// Progress goes into the request as it is.
	Progress []protocol.ShardProgress
	// Wait asks the coordinator to hold the answer back until something changes (A5);
	// it is bounded by the interval and a quarter of the client lease.
	Wait time.Duration
}

// Heartbeat returns the request to send at now. It becomes the latest one: the client lease
// that its answer gives counts from now, and no earlier answer counts any more (H5). The
// actions are those of Tick and come first.
func (s *State) Heartbeat(now time.Duration, load Load) (*protocol.HeartbeatRequest, []Action) {
	actions := s.Tick(now)
	request := s.request(now, load, s.epoch)
	wait := min(load.Wait, s.interval, s.cfg.ClientLease/4)
	if s.epoch > 0 && wait > 0 {
		request.WaitMs = wait.Milliseconds()
	}
	request.MemberEpoch = s.epoch
	for at := range s.shards {
		shard := &s.shards[at]
		shard.reported = shard.Phase == Revoked
		id := protocol.ShardID{ShardIndex: shard.Index}
		if shard.Phase == Active {
			request.OwnedShards = append(request.OwnedShards, id)
			continue
		}
		request.RevokingShards = append(request.RevokingShards, revoking(*shard, load))
	}
	return request, actions
}

// request returns a request without shards and makes it the latest one.
func (s *State) request(now time.Duration, load Load, epoch int64) *protocol.HeartbeatRequest {
	s.sequence++
	s.awaiting = s.sequence
	s.sentAt = now
	request := &protocol.HeartbeatRequest{
		ProtocolVersion: protocol.Version,
		RequestID:       load.RequestID,
		MemberID:        s.cfg.ID,
		MemberEpoch:     epoch,
		MetadataVersion: s.version,
		RuntimeConsumerCapacity: protocol.Capacity{
			RuntimeMaxConcurrency: s.cfg.Workers,
			AvailableConcurrency:  min(max(load.Free, 0), s.cfg.Workers),
		},
		OwnedShards:    []protocol.ShardID{},
		RevokingShards: []protocol.RevokingShard{},
		ShardProgress:  load.Progress,
		Incarnation:    s.cfg.Incarnation,
		Sequence:       s.sequence,
		Lineage:        s.lineage,
	}
	if s.cfg.Name != "" {
		name := s.cfg.Name
		request.MemberName = &name
	}
	if request.ShardProgress == nil {
		request.ShardProgress = []protocol.ShardProgress{}
	}
	return request
}

// revoking reports a shard in revoke. REVOKED always goes with nothing in flight and the
// other states never look finished, whatever was counted (R2, R4).
func revoking(shard Shard, load Load) protocol.RevokingShard {
	report := protocol.RevokingShard{Shard: protocol.ShardID{ShardIndex: shard.Index}, State: protocol.Revoked}
	switch shard.Phase {
	case Revoking:
		report.State, report.InFlight = protocol.Revoking, load.InFlight[shard.Index]
	case Draining:
		report.State, report.InFlight = protocol.Draining, max(load.InFlight[shard.Index], 1)
	case Active, Revoked:
	}
	return report
}
