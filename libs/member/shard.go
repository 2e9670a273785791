package member

import (
	"cmp"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Phase is how far a shard has come at the member.
type Phase uint8

// The phases of a shard. A shard only moves forward; a new grant begins at Active again.
const (
	Active   Phase = iota // may be read
	Revoking              // a read that was sent before the revoke is still out
	Draining              // handlers run
	Revoked               // nothing runs; the coordinator has to hear of it
)

// Shard is one shard that the member reads or is giving back.
type Shard struct {
	Index int
	Phase Phase
	// Grant numbers the grants of this member's life; what an older one reports is ignored.
	Grant int64
	// Fence is the member epoch of the answer that started the shard. The coordinator draws
	// epochs from one counter of the group, so it grows with every change of owner (E1).
	Fence int64

	// reported tells that the latest request said REVOKED.
	reported bool
}

// Kind is what an action asks for.
type Kind uint8

// The kinds of actions.
const (
	// Start begins to read a shard: adopt what is pending, then read. What an earlier grant of
	// the same shard still does in this process has to end first.
	Start Kind = iota
	// Revoke stops new reads and handlers of a shard; ReadStopped and Drained report the end.
	Revoke
	// Drop gives up a shard at once: nothing may be started and nothing acknowledged.
	Drop
)

// Action is something for the caller to carry out, in the order given.
type Action struct {
	Kind  Kind
	Shard int
	Grant int64
	// Fence comes with Start, see Shard.
	Fence int64
}

// Shard returns one shard that the member reads or is giving back.
func (s *State) Shard(index int) (Shard, bool) {
	at, found := s.find(index)
	if !found {
		return Shard{}, false
	}
	return s.shards[at], true
}

// ReadStopped tells that no read of a shard in revoke is out any more.
func (s *State) ReadStopped(shard int, grant int64) {
	if at, found := s.find(shard); found && s.shards[at].Grant == grant && s.shards[at].Phase == Revoking {
		s.shards[at].Phase = Draining
	}
}

// Drained tells that nothing of a shard in revoke runs any more and that its acknowledgements
// are out. An extra heartbeat becomes due at now, except while the member leaves.
func (s *State) Drained(now time.Duration, shard int, grant int64) {
	at, found := s.find(shard)
	if !found || s.shards[at].Grant != grant || s.shards[at].Phase == Active || s.shards[at].Phase == Revoked {
		return
	}
	s.shards[at].Phase = Revoked
	if !s.leaving {
		s.due = min(s.due, now)
	}
}

// assign applies what an answer allows: with start it is an OK, which starts shards and ends
// local revokes; without, shards are only kept (A3).
func (s *State) assign(assigned []protocol.ShardID, start bool) []Action {
	wanted := indexes(assigned)
	var actions []Action
	kept := make([]Shard, 0, len(s.shards)+len(wanted))
	for _, shard := range s.shards {
		_, found := slices.BinarySearch(wanted, shard.Index)
		switch {
		case found && start && !s.leaving && shard.Phase != Active: // H5: OK ends a local revoke
			continue
		case shard.reported:
			continue
		case !found && shard.Phase == Active:
			shard.Phase = Revoking
			actions = append(actions, Action{Kind: Revoke, Shard: shard.Index, Grant: shard.Grant})
		}
		kept = append(kept, shard)
	}
	s.shards = kept
	if !start || s.leaving {
		return actions
	}
	for _, index := range wanted {
		if at, found := s.find(index); !found {
			actions = append(actions, s.start(at, index))
		}
	}
	return actions
}

func (s *State) start(at, index int) Action {
	s.grants++
	s.shards = slices.Insert(s.shards, at, Shard{Index: index, Grant: s.grants, Fence: s.epoch})
	return Action{Kind: Start, Shard: index, Grant: s.grants, Fence: s.epoch}
}

func (s *State) find(index int) (int, bool) {
	return slices.BinarySearchFunc(s.shards, index, func(shard Shard, index int) int {
		return cmp.Compare(shard.Index, index)
	})
}

// indexes returns the sorted indexes without duplicates; negative ones are no shards.
func indexes(ids []protocol.ShardID) []int {
	result := make([]int, 0, len(ids))
	for _, id := range ids {
		if id.ShardIndex >= 0 {
			result = append(result, id.ShardIndex)
		}
	}
	slices.Sort(result)
	return slices.Compact(result)
}
