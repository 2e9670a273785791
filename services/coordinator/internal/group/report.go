package group

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// listing is how a report speaks of one shard.
type listing int

const (
	absent   listing = iota
	owned            // read now
	revoking         // being given back, or REVOKED with work in flight (R4)
	released         // REVOKED without work in flight
)

// done tells whether a revoke report says that nothing runs any more (R2, R4).
func done(r protocol.RevokingShard) bool { return r.State == protocol.Revoked && r.InFlight == 0 }

// listings returns how req speaks of each shard it names. A shard is in one list only (R5).
func listings(req *protocol.HeartbeatRequest) map[int]listing {
	named := make(map[int]listing, len(req.OwnedShards)+len(req.RevokingShards))
	for _, shard := range req.OwnedShards {
		named[shard.ShardIndex] = owned
	}
	for _, r := range req.RevokingShards {
		named[r.Shard.ShardIndex] = revoking
		if done(r) {
			named[r.Shard.ShardIndex] = released
		}
	}
	return named
}

// ownsWithoutHold tells whether the report names a shard as read or still being given
// back that the member does not hold (R1). An index outside the reading set is one (R5).
func (s *step) ownsWithoutHold(m Member, req *protocol.HeartbeatRequest) bool {
	holds := func(shard int) bool { return shard >= 0 && shard < len(s.g.Holds) && s.g.Holds[shard].by(m) }
	for _, shard := range req.OwnedShards {
		if !holds(shard.ShardIndex) {
			return true
		}
	}
	for _, r := range req.RevokingShards {
		if !done(r) && !holds(r.Shard.ShardIndex) {
			return true
		}
	}
	return false
}

// release ends the holds that the member was told to drop and reports as done, or does
// not report at all: old clients report no revoking shards (R2).
func (s *step) release(i int, req *protocol.HeartbeatRequest) {
	s.releaseIf(i, req, func(h Hold) bool { return h.Told })
}

// releaseUnlisted ends at a goodbye the holds that the member does not list as running,
// if the message can show that it is this life's and new (J5).
func (s *step) releaseUnlisted(i int, req *protocol.HeartbeatRequest) {
	if req.Incarnation != "" {
		s.releaseIf(i, req, func(Hold) bool { return true })
	}
}

// releaseIf ends those of the member's holds that may end and that the report does not
// name as running.
func (s *step) releaseIf(i int, req *protocol.HeartbeatRequest, may func(Hold) bool) {
	m := s.g.Members[i]
	var named map[int]listing
	for shard, h := range s.g.Holds {
		if !h.by(m) || !may(h) {
			continue
		}
		if named == nil {
			named = listings(req)
		}
		if how := named[shard]; how == released || how == absent {
			s.heed(req)
			s.endHold(shard)
			s.bump(i)
		}
	}
}
