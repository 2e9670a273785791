package member

import (
	"encoding/binary"
	"time"
)

// AppendKey appends a canonical form of the state to b: two states are the same if and only
// if their forms are the same. Times are relative to now, so that states which differ only
// in when they were reached count as one. It is for the exploration of the protocol.
func (s *State) AppendKey(b []byte, now time.Duration) []byte {
	for _, text := range []string{s.cfg.ID, s.cfg.Incarnation, s.lineage, string(s.status), string(s.reason)} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	for _, number := range []int64{
		s.epoch, s.version, s.sequence, s.awaiting, s.grants, int64(s.failures), int64(len(s.shards)),
		int64(s.due - now), int64(s.interval),
	} {
		b = binary.AppendVarint(b, number)
	}
	if s.awaiting != 0 {
		b = binary.AppendVarint(b, int64(s.sentAt-now))
	}
	if s.leased {
		b = binary.AppendVarint(b, int64(s.leaseUntil-now))
	}
	b = append(b, flags(s.leased, s.leaving, s.departed, s.done))
	for _, shard := range s.shards {
		b = binary.AppendVarint(b, int64(shard.Index))
		b = binary.AppendVarint(b, shard.Grant)
		b = binary.AppendVarint(b, shard.Fence)
		b = append(b, byte(shard.Phase), flags(shard.reported))
	}
	return b
}

// flags packs at most eight facts into a byte.
func flags(facts ...bool) byte {
	var packed byte
	for at, fact := range facts {
		if fact {
			packed |= 1 << at
		}
	}
	return packed
}
