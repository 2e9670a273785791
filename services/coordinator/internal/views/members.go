package views

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Members returns the members of a group; those that have left are not listed.
func Members(s Source) []protocol.MemberMetadata {
	members := []protocol.MemberMetadata{}
	for _, m := range s.Group.Members {
		if m.State != group.Left {
			members = append(members, member(s, m))
		}
	}
	return members
}

func member(s Source, m group.Member) protocol.MemberMetadata {
	live, detail := s.Live[m.ID], s.Detail[m.ID]
	shown := protocol.MemberMetadata{
		MemberID:              m.ID,
		MemberName:            m.Name,
		State:                 memberState(m, detail),
		MemberEpoch:           m.Epoch,
		MetadataVersion:       detail.Version,
		RuntimeMaxConcurrency: detail.Max,
		ActiveConsumerWorkers: max(0, detail.Max-detail.Free),
		CurrentAssignment:     []protocol.ShardID{},
		GrantedAssignment:     []protocol.ShardID{},
		Revoking:              []protocol.ShardID{},
		LastHeartbeatAt:       protocol.AtMillis(int64(live.HeardAt)),
		MemberLeaseExpiresAt:  protocol.AtMillis(int64(live.Deadline)),
		RebalanceTimeoutMs:    s.RebalanceTimeoutMs,
		ShardProgress:         []protocol.ShardProgress{},
		StateDetail:           string(m.State),
		Incarnation:           m.Incarnation,
	}
	for shard, h := range s.Group.Holds {
		if h.Member != m.ID {
			continue
		}
		id := protocol.ShardID{ShardIndex: shard}
		shown.CurrentAssignment = append(shown.CurrentAssignment, id)
		if h.Told || h.Lingers != 0 {
			shown.Revoking = append(shown.Revoking, id)
		} else {
			shown.GrantedAssignment = append(shown.GrantedAssignment, id)
		}
	}
	shown.ShardProgress = append(shown.ShardProgress, progressOf(s, m, detail)...)
	if m.DropBy != 0 {
		by := protocol.AtMillis(int64(m.DropBy))
		shown.RebalanceDeadlineAt = &by
	}
	if live.SuccessorAt > m.Since { // an older mark may be the member's own, from before it took over
		shown.Successor = &live.Successor
	}
	return shown
}

// progressOf returns what the member told of shards that it still holds (E3).
func progressOf(s Source, m group.Member, detail codec.Detail) []protocol.ShardProgress {
	held := func(p protocol.ShardProgress) bool {
		i := p.Shard.ShardIndex
		return i >= 0 && i < len(s.Group.Holds) && s.Group.Holds[i].Member == m.ID
	}
	return slices.DeleteFunc(slices.Clone(detail.Progress), func(p protocol.ShardProgress) bool { return !held(p) })
}

// memberState folds the states into those that dashboards know.
func memberState(m group.Member, detail codec.Detail) protocol.MemberState {
	switch m.State {
	case group.Active:
		if detail.Version == 0 { // it has only asked to join so far
			return protocol.MemberStarting
		}
		return protocol.MemberActive
	case group.Leaving, group.Suspended:
		return protocol.MemberLeaving
	case group.Fenced:
		return protocol.MemberFenced
	case group.Waiting, group.Expired, group.Left:
		return protocol.MemberExpired
	default:
		return protocol.MemberExpired
	}
}
