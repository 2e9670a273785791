package explore

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// oldClient is a client without incarnation, sequence and lineage. It reports no revoking
// shards, and is taken to read at most as long as the lease of the answer lets new ones (H6).
type oldClient struct {
	epoch, version int64
	leaseUntil     int64
	reads          uint32 // shards
	status         protocol.HeartbeatStatus
	awaiting       bool
}

func (p *process) oldRequest(id string) *protocol.HeartbeatRequest {
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: protocol.Version, RequestID: id, MemberID: p.id,
		MemberEpoch: p.old.epoch, MetadataVersion: p.old.version,
	}
	if p.leaving {
		req.MemberEpoch = p.parting
	}
	if req.MemberEpoch != protocol.EpochJoin && !p.leaving {
		for shard := range 32 {
			if p.old.reads&(1<<shard) != 0 {
				req.OwnedShards = append(req.OwnedShards, protocol.ShardID{ShardIndex: shard})
			}
		}
	}
	p.old.awaiting = true
	return req
}

// oldAnswer gives an answer to an old client.
func (w *World) oldAnswer(p *process, req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	if !p.old.awaiting || req != p.last {
		return
	}
	o := &p.old
	o.awaiting = false
	switch resp.Status {
	case protocol.StatusOK, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		w.checkAnswerOrder(p, resp)
		w.oldAccept(p, resp)
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		o.reads, o.epoch, o.leaseUntil = 0, 0, 0
		p.seenEpoch = 0
		o.version = resp.MetadataVersion
	case protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
		o.epoch, o.version = resp.MemberEpoch, resp.MetadataVersion
	case protocol.StatusRetry:
	}
	o.status = resp.Status
}

func (w *World) oldAccept(p *process, resp *protocol.HeartbeatResponse) {
	o := &p.old
	o.epoch, o.version = resp.MemberEpoch, resp.MetadataVersion
	o.leaseUntil = p.sentAt + min(ms(w.env.cfg.ClientLease), resp.LeaseMs)
	if w.now >= o.leaseUntil { // the answer came too late to stand on
		return
	}
	assigned := uint32(0)
	for _, id := range resp.Assignment.AssignedShards {
		assigned |= 1 << id.ShardIndex
	}
	if resp.Status == protocol.StatusOK {
		o.reads |= assigned
	}
	o.reads &= assigned
}
