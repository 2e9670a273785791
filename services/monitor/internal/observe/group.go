package observe

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// settleGroups fills in the groups that are looked for and there, and returns what to ask
// about them.
func (l *look) settleGroups() []question {
	l.shard.Groups = make(map[string]facts.ShardGroup, len(l.target.groups))
	var more []question
	for _, group := range l.groups {
		if _, wanted := slices.BinarySearch(l.target.groups, group.Name); !wanted {
			continue
		}
		unread := unreadOf(*l.stream, group, len(l.target.groups))
		l.shard.Groups[group.Name] = facts.ShardGroup{
			LastDeliveredID: someID(group.LastDeliveredID), EntriesRead: known(group.EntriesRead), Lag: known(group.Lag),
			Pending: group.Pending, Tail: unread.tail, FirstUnreadID: unread.first,
		}
		if unread.ask > 0 {
			more = append(more, l.askUnread(group, unread.ask))
		}
		if group.Pending > 0 {
			more = append(more, l.askPending(group.Name))
		}
		if l.consumers {
			more = append(more, l.askConsumers(group.Name))
		}
	}
	return more
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
		if len(entries) > 0 {
			g.FirstUnreadID = &entries[0].ID
		}
		if count := int64(len(entries)); len(entries) < most {
			g.Tail = &count
		}
	})
}

// askPending asks for the entry that is pending and has the lowest id.
func (l *look) askPending(group string) question {
	args := []any{"XPENDING", l.shard.Key, group, "-", "+", 1}
	return l.about(group, args, 1, func(g *facts.ShardGroup, reply any) {
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
