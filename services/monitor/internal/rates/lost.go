package rates

import "github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"

// gap counts the entries between a group's cursor and the first entry that is there, which
// went away unread; nil where the server has not counted what was read.
func gap(shard *facts.Shard, group facts.ShardGroup) *int64 {
	if !allUnread(shard, group) {
		return new(int64)
	}
	if shard.EntriesAdded == nil {
		return nil
	}
	gone := *shard.EntriesAdded - shard.Length
	if gone != 0 {
		if group.EntriesRead == nil {
			return nil
		}
		gone -= *group.EntriesRead
	}
	if gone < 0 { // a position that was given by hand
		return nil
	}
	return &gone
}

// lostUnread counts as gap does. Where the server has not counted, it counts what was lost
// since the observation began: earlier is the count at before. The alarm tells that something
// was lost even if nobody can say how much.
func lostUnread(before *sight, now sight, earlier *int64) (lost *int64, alarm bool) {
	lost = gap(now.shard, now.group)
	if lost == nil && before != nil {
		lost = lostSince(*before, now, earlier)
	}
	if lost != nil {
		return lost, *lost > 0
	}
	return nil, before != nil && firstUnreadGone(*before, now)
}

// lostSince returns what was lost, with what was lost earlier, while the cursor stood still.
func lostSince(before, now sight, earlier *int64) *int64 {
	if before.cursor() != now.cursor() || now.shard.EntriesAdded == nil || now.group.EntriesRead != nil {
		return nil
	}
	unread := before.lag.Value
	if allUnread(before.shard, before.group) {
		unread = &before.shard.Length
	}
	if unread == nil {
		return nil
	}
	lost := *unread + *now.shard.EntriesAdded - *before.shard.EntriesAdded - now.shard.Length
	if earlier != nil {
		lost += *earlier
	}
	if lost < 0 {
		return nil
	}
	return &lost
}

// firstUnreadGone tells whether the entry that was to be read next is still unread and gone.
func firstUnreadGone(before, now sight) bool {
	next := firstUnread(before.shard, before.group)
	if next == nil || !idOf(next).after(now.cursor()) {
		return false
	}
	return now.shard.Length == 0 || idOf(now.shard.FirstID).after(idOf(next))
}

// firstUnread returns the id of the first entry after the cursor, nil where it is not known
// or there is none.
func firstUnread(shard *facts.Shard, group facts.ShardGroup) *string {
	if group.FirstUnreadID == nil && allUnread(shard, group) {
		return shard.FirstID
	}
	return group.FirstUnreadID
}
