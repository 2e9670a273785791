package observe

import (
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// kept is what was last learnt of a shard: not everything is asked in every round.
type kept struct {
	shard     *facts.Shard // of the last round that could read it, nil for none
	sizeAsked int64        // the round, 0 for none
	groups    map[string]keptGroup
}

// keptGroup is the same of a group on the shard.
type keptGroup struct {
	asked turns
	// miscounted tells that Redis had counted wrongly when the unread entries were last
	// counted, suspect that it may have since.
	miscounted, suspect bool
}

// keep remembers what was learnt in this round and fills in what was not asked. A shard
// that is out of reach keeps what it had; one that is gone, or no stream, loses it.
func (o *Observer) keep(targets []target) {
	next := make(map[string]kept, len(targets))
	for _, t := range targets {
		before, seen := o.kept[t.shard.Key]
		switch t.shard.Problem {
		case "":
			next[t.shard.Key] = completed(t.shard, before, *t.asked)
		case facts.ProblemUnreachable:
			if seen {
				next[t.shard.Key] = before
			}
		case facts.ProblemMissing, facts.ProblemWrongType, facts.ProblemGroupMissing:
		}
	}
	o.kept = next
}

// completed fills in a shard from what was known before, and returns what is known now.
func completed(shard *facts.Shard, before kept, asked asked) kept {
	if shard.Memory == nil && before.shard != nil {
		shard.Memory = before.shard.Memory
	}
	now := kept{shard: shard, sizeAsked: before.sizeAsked, groups: make(map[string]keptGroup, len(shard.Groups))}
	if asked.size {
		now.sizeAsked = asked.number
	}
	for name, group := range shard.Groups {
		was := before.groups[name]
		if about, found := asked.groups[name]; found {
			was.asked[about] = asked.number
		}
		if before.shard != nil {
			group = withEarlier(group, shard, before.shard, name)
		}
		was.miscounted = miscounted(group, shard, was.miscounted)
		was.suspect = group.LagDoubtful && group.Tail == nil
		group.LagDoubtful = group.Tail == nil && (was.suspect || was.miscounted)
		shard.Groups[name], now.groups[name] = group, was
	}
	return now
}

// withEarlier tells of a group what an earlier round knew and this one has not asked for.
func withEarlier(group facts.ShardGroup, shard, before *facts.Shard, name string) facts.ShardGroup {
	last, found := before.Groups[name]
	if !found {
		return group
	}
	if group.Consumers == nil {
		group.Consumers = last.Consumers
	}
	if before.Node.RunID != shard.Node.RunID || wentBack(before.LastGeneratedID, shard.LastGeneratedID) ||
		wentBack(last.LastDeliveredID, group.LastDeliveredID) {
		return group
	}
	if group.Tail == nil && group.FirstUnreadID == nil {
		group.EarlierUnread = sighted(before, last.FirstUnreadID, last.EarlierUnread)
	}
	if group.Pending > 0 && group.OldestPendingID == nil {
		group.EarlierPending = sighted(before, last.OldestPendingID, last.EarlierPending)
	}
	return group
}

// sighted returns the entry with an id that was seen with a shard, or one that was seen earlier
// unless that is too long ago.
func sighted(shard *facts.Shard, id *string, earlier *facts.Sighting) *facts.Sighting {
	switch {
	case id != nil:
		return &facts.Sighting{ID: *id, At: shard.At, Rounds: 1}
	case earlier == nil || earlier.Rounds >= recheckEvery:
		return nil
	default:
		return &facts.Sighting{ID: earlier.ID, At: earlier.At, Rounds: earlier.Rounds + 1}
	}
}

// wentBack tells whether an id is lower than it was.
func wentBack(before, now *string) bool { return idOf(before).Compare(idOf(now)) > 0 }

// idOf reads an id; none, and what is none, lies before all others.
func idOf(text *string) redisx.EntryID {
	if text == nil {
		return redisx.EntryID{}
	}
	id, err := redisx.ParseEntryID(*text)
	if err != nil {
		return redisx.EntryID{}
	}
	return id
}
