package observe

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// settleGroups fills in the groups that are looked for and there, and returns what to ask
// about them: one question a group. The size of the shard takes the turn of its first one.
func (l *look) settleGroups() []question {
	l.shard.Groups = make(map[string]facts.ShardGroup, len(l.target.groups))
	var more []question
	size := l.sizeWish()
	for _, group := range l.groups {
		if _, wanted := slices.BinarySearch(l.target.groups, group.Name); !wanted {
			continue
		}
		if next, found := chosen(append(l.wishes(group), size...)); found {
			l.asked.groups[group.Name] = next.about
			l.asked.size = l.asked.size || next.about == topicSize
			more = append(more, next.question)
		}
		size = nil
	}
	for _, next := range size { // no group of ours is there
		l.asked.size = true
		more = append(more, next.question)
	}
	return more
}

// wishes fills in a group with what is known without asking, and returns what is not.
func (l *look) wishes(group redisx.Group) []wish {
	before := l.before.groups[group.Name]
	unread := unreadOf(*l.stream, group, len(l.target.groups), before.miscounted)
	now := facts.ShardGroup{
		LastDeliveredID: someID(group.LastDeliveredID), EntriesRead: known(group.EntriesRead), Lag: known(group.Lag),
		Pending: group.Pending, Tail: unread.tail, FirstUnreadID: unread.first,
	}
	now.LagDoubtful = before.miscounted || unread.ask > 1 && (before.suspect || l.suspicious(group.Name, now))
	var wishes []wish
	waited := func(about topic) int64 { return waits(before.asked[about], l.asked.number) }
	if unread.ask > 0 && (!l.unreadStands(group.Name, &now) || waited(topicUnread) >= recheckEvery) {
		wait := waited(topicUnread)
		if unread.ask > 1 && (now.Lag == nil || now.LagDoubtful) {
			wait += doubtBonus
		}
		wishes = append(wishes, wish{topicUnread, wait, l.askUnread(group, unread.ask)})
	}
	if group.Pending > 0 && (!l.pendingStands(group.Name, &now) || waited(topicPending) >= recheckEvery) {
		wishes = append(wishes, wish{topicPending, waited(topicPending), l.askPending(group.Name)})
	}
	if wait := waited(topicConsumers); wait >= int64(l.consumersEvery) {
		wishes = append(wishes, wish{topicConsumers, wait, l.askConsumers(group.Name)})
	}
	l.shard.Groups[group.Name] = now
	return wishes
}

// unreadStands fills in what an earlier round has seen of the unread entries, where neither
// the stream nor the group has changed since.
func (l *look) unreadStands(name string, now *facts.ShardGroup) bool {
	before, found := l.earlier(name)
	if !found || !stands(l.before.shard, l.shard) || !same(before.LastDeliveredID, now.LastDeliveredID) ||
		!same(before.Lag, now.Lag) || before.FirstUnreadID == nil {
		return false
	}
	now.Tail, now.TailAtLeast, now.FirstUnreadID = before.Tail, before.TailAtLeast, before.FirstUnreadID
	return true
}

// pendingStands fills in the oldest pending entry, where as many are pending as were and
// nothing was delivered since.
func (l *look) pendingStands(name string, now *facts.ShardGroup) bool {
	before, found := l.earlier(name)
	if !found || l.before.shard.Node.RunID != l.shard.Node.RunID || !same(before.LastDeliveredID, now.LastDeliveredID) ||
		before.Pending != now.Pending || before.OldestPendingID == nil {
		return false
	}
	now.OldestPendingID = before.OldestPendingID
	return true
}

// earlier returns a group as it was when the shard was last read.
func (l *look) earlier(name string) (facts.ShardGroup, bool) {
	if l.before.shard == nil {
		return facts.ShardGroup{}, false
	}
	before, found := l.before.shard.Groups[name]
	return before, found
}

// sizeWish is the wish to know the size of the shard, where it is time for it.
func (l *look) sizeWish() []wish {
	wait := waits(l.before.sizeAsked, l.asked.number)
	if wait < int64(l.sizeEvery) {
		return nil
	}
	args := []any{"MEMORY", "USAGE", l.shard.Key, "SAMPLES", memorySamples}
	return []wish{{topicSize, wait, question{args, 2, func(reply any, _ error) {
		if size, ok := reply.(int64); ok {
			l.shard.Memory = &size
		}
	}}}}
}

// askUnread asks for the entries after those that were delivered, up to the last one that
// was there when the rest was asked.
func (l *look) askUnread(group redisx.Group, most int) question {
	args := []any{"XRANGE", l.shard.Key, "(" + group.LastDeliveredID, l.stream.LastID, "COUNT", most}
	return l.about(group.Name, args, 1, func(g *facts.ShardGroup, reply any) {
		entries, err := redisx.ParseEntries(reply)
		if err != nil {
			return
		}
		g.FirstUnreadID, g.Tail, g.TailAtLeast = nil, nil, int64(len(entries))
		if len(entries) > 0 {
			g.FirstUnreadID = &entries[0].ID
		}
		if len(entries) < most {
			g.Tail = &g.TailAtLeast
		}
	})
}

// askPending asks for the entry that is pending and has the lowest id.
func (l *look) askPending(group string) question {
	args := []any{"XPENDING", l.shard.Key, group, "-", "+", 1}
	return l.about(group, args, 1, func(g *facts.ShardGroup, reply any) {
		g.OldestPendingID = nil
		if list, ok := reply.([]any); ok && len(list) == 1 {
			if first, ok := list[0].([]any); ok && len(first) > 0 {
				if id, ok := first[0].(string); ok {
					g.OldestPendingID = &id
				}
			}
		}
	})
}

func (l *look) askConsumers(group string) question {
	args := []any{"XINFO", "CONSUMERS", l.shard.Key, group}
	return l.about(group, args, 2, func(g *facts.ShardGroup, reply any) {
		found, err := redisx.ParseConsumers(reply)
		if err != nil {
			return
		}
		g.Consumers = make([]facts.Consumer, len(found))
		for i, c := range found {
			g.Consumers[i] = facts.Consumer(c)
		}
	})
}

// about is a question about one group, whose failure leaves things unknown.
func (l *look) about(group string, args []any, keyAt int8, take func(*facts.ShardGroup, any)) question {
	return question{args, keyAt, func(reply any, err error) {
		if err != nil {
			return
		}
		g := l.shard.Groups[group]
		take(&g, reply)
		l.shard.Groups[group] = g
	}}
}
