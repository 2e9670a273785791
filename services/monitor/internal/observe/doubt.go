package observe

import "github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"

// miscounted tells whether Redis has counted wrongly what a group has read. A count of the
// unread entries decides it. Without one, an error that was found stays until Redis counts anew.
func miscounted(group facts.ShardGroup, shard *facts.Shard, before bool) bool {
	return group.Miscounted(shard) || before && group.Tail == nil && group.EntriesRead != nil
}

// suspicious tells whether Redis' count of what a group has read may have become wrong since the
// shard was last read: entries may have gone unread and been passed by the group (F02), or a
// hand has written the count (F03).
func (l *look) suspicious(name string, now facts.ShardGroup) bool {
	before, found := l.earlier(name)
	if !found {
		return false
	}
	moved := !same(before.LastDeliveredID, now.LastDeliveredID)
	if before.EntriesRead != nil && now.EntriesRead != nil && moved != (*now.EntriesRead > *before.EntriesRead) {
		return true
	}
	cursor := idOf(before.LastDeliveredID)
	if cursor.Compare(idOf(l.before.shard.LastGeneratedID)) > 0 {
		return true // ahead of the stream, it passes what is added up to there
	}
	cut := !same(l.before.shard.FirstID, l.shard.FirstID) && idOf(l.shard.FirstID).Compare(cursor) > 0
	return moved && (cut || idOf(l.shard.MaxDeletedID).Compare(cursor) > 0)
}
