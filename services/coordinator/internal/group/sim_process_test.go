package group_test

import (
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// phase is how far a shard has come at a process.
type phase int

const (
	idle     phase = iota
	active         // may be read
	draining       // a handler still runs
	revoked        // nothing runs
)

// process is one life of a member: the client's half of the protocol (H5, A3), or an old
// client, which has no incarnation and is taken to read at most as long as the lease of
// the answer lets new ones (H6).
type process struct {
	s                    *sim
	name, id, incarnated string
	old                  bool
	gone                 bool
	leaving              int64 // EpochLeave or EpochSuspend once it goes

	epoch, version, sequence int64
	lineage                  string
	awaiting                 *protocol.HeartbeatRequest
	sentAt, leaseUntil       int64
	status                   protocol.HeartbeatStatus

	shards   []phase
	reported []bool
	excused  []bool // a handler that the group did not have to wait for (H3c, lost writes)

	seenEpoch, seenVersion int64 // of the last answer taken, for I5
	seenLineage            string
	sentFences, fences     int  // the same for operators' fences of the member
	sentEra, era           int  // losses of the store before the latest request, and before the last that let it on
	misbehaved             bool // it sent a bad report since
}

func (s *sim) start(id string, old bool) *process {
	s.lives++
	p := &process{
		s: s, id: id, name: fmt.Sprintf("%s%d", id, s.lives), old: old,
		shards: make([]phase, s.most()), reported: make([]bool, s.most()), excused: make([]bool, s.most()),
	}
	if !old {
		p.incarnated = p.name
	}
	s.procs = append(s.procs, p)
	return p
}

// mayRead tells whether a read or a handler of the shard may start now (H5).
func (p *process) mayRead(shard int) bool {
	if p.gone || p.leaving != 0 || p.shards[shard] != active {
		return false
	}
	if p.s.mix.flaw == "no client lease" {
		return true
	}
	return p.leased() && (!p.old || p.status == protocol.StatusOK)
}

// runs tells whether anything of the shard runs, a handler that drains included.
func (p *process) runs(shard int) bool {
	return p.mayRead(shard) || !p.gone && p.leased() && p.shards[shard] == draining && !p.excused[shard]
}

func (p *process) leased() bool { return p.s.now < p.leaseUntil }

// lapse drops everything when the client lease has run out (H5). Old clients notice nothing.
func (p *process) lapse() {
	if p.old || p.leaseUntil == 0 || p.leased() || p.s.mix.flaw == "no client lease" {
		return
	}
	if p.s.mix.flaw == "keeps shards after a lapse" {
		p.leaseUntil = 0
		return
	}
	p.forget()
}

func (p *process) forget() {
	clear(p.shards)
	clear(p.reported)
	p.epoch, p.leaseUntil, p.awaiting = 0, 0, nil
	p.seenEpoch = 0
}

// request returns the next heartbeat and makes it the latest.
func (p *process) request() *protocol.HeartbeatRequest {
	p.lapse()
	p.s.requests++
	req := &protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: fmt.Sprintf("r%d", p.s.requests), MemberID: p.id,
		MemberEpoch: p.epoch, MetadataVersion: p.version,
	}
	if !p.old {
		p.sequence++
		req.Incarnation, req.Sequence, req.Lineage = p.incarnated, p.sequence, p.lineage
	}
	if p.leaving != 0 {
		req.MemberEpoch = p.leaving
	}
	if req.MemberEpoch != 0 {
		p.list(req)
	}
	p.awaiting, p.sentAt, p.sentEra = req, p.s.now, p.s.eras()
	p.sentFences = p.s.visits["fence of "+p.id]
	return req
}

// list reports the shards.
func (p *process) list(req *protocol.HeartbeatRequest) {
	for shard, how := range p.shards {
		id := protocol.ShardID{ShardIndex: shard}
		r := protocol.RevokingShard{Shard: id, State: protocol.Draining, InFlight: 1}
		switch how {
		case idle:
		case active:
			req.OwnedShards = append(req.OwnedShards, id)
		case draining:
			if p.s.draw.pick("says REVOKED too early", 4) == 3 {
				r.State = protocol.Revoked // R4: with work in flight it counts as draining
			}
			req.RevokingShards = append(req.RevokingShards, r)
		case revoked:
			r.State, r.InFlight = protocol.Revoked, 0
			req.RevokingShards = append(req.RevokingShards, r)
			p.reported[shard] = true
		}
	}
}

// take takes an answer. Only the one to the latest request counts (H5, T18).
func (p *process) take(req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	p.lapse()
	if p.gone || req != p.awaiting && (p.s.mix.flaw != "any answer counts" || p.old) {
		return
	}
	p.awaiting = nil
	p.s.blame(p, req, resp)
	if p.leaving != 0 {
		p.gone = resp.Status != protocol.StatusRetry
		return
	}
	switch resp.Status {
	case protocol.StatusOK, protocol.StatusSyncMetadata, protocol.StatusRevokePending:
		p.accept(resp)
	case protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch:
		p.forget()
		if p.old {
			p.version = resp.MetadataVersion
		}
	case protocol.StatusUnsupportedProtocol, protocol.StatusInvalidRequest:
		if p.old {
			p.epoch, p.version = resp.MemberEpoch, resp.MetadataVersion
		}
	case protocol.StatusRetry:
	}
	p.status = resp.Status
}

func (p *process) accept(resp *protocol.HeartbeatResponse) {
	p.s.checkAnswerOrder(p, resp)
	p.epoch, p.version, p.lineage = resp.MemberEpoch, resp.MetadataVersion, resp.Lineage
	p.era, p.fences, p.misbehaved = p.sentEra, p.sentFences, false
	from := p.sentAt
	if p.s.mix.flaw == "lease from the answer" {
		from = p.s.now
	}
	p.leaseUntil = from + min(ms(p.s.cfg.ClientLease), resp.LeaseMs)
	if !p.leased() { // the answer came too late to stand on
		if !p.old {
			p.forget()
		}
		return
	}
	before := slices.Clone(p.shards)
	p.assign(indexes(resp.Assignment.AssignedShards), resp.Status == protocol.StatusOK)
	if resp.Status == protocol.StatusOK {
		return
	}
	for shard, how := range p.shards {
		if how == active && before[shard] != active {
			p.s.violated("I8", "%s started shard %d on %s", p.name, shard, resp.Status)
		}
	}
}

// assign applies what an answer allows; only an OK starts shards (A3).
func (p *process) assign(assigned []int, start bool) {
	for shard, how := range p.shards {
		found := slices.Contains(assigned, shard)
		switch {
		case found && start:
			p.shards[shard], p.excused[shard] = active, false
		case p.reported[shard]:
			p.shards[shard] = idle
		case !found && how == active && p.old:
			p.shards[shard] = idle
		case !found && how == active:
			p.shards[shard] = draining
			p.excused[shard] = holdOf(p.s.store.g, shard).Member != p.id // the grant was lost, the barrier is all there is
		}
		p.reported[shard] = false
	}
}

// drained ends the handlers of the shards that are given back.
func (p *process) drained() {
	for shard, how := range p.shards {
		if how == draining {
			p.shards[shard] = revoked
		}
	}
}

// depart begins to leave: nothing is read any more; what still drains is said so (J5).
func (p *process) depart(epoch int64) {
	p.leaving = epoch
	for shard, how := range p.shards {
		if how == active {
			p.shards[shard] = idle
		}
	}
}
