package rates

import "github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"

// sight is a group on a shard at one observation.
type sight struct {
	shard *facts.Shard
	group facts.ShardGroup
	lag   Lag
}

func sightOf(shard *facts.Shard, group facts.ShardGroup) sight {
	return sight{shard: shard, group: group, lag: Judge(shard, group)}
}

func (s sight) cursor() recordID { return idOf(s.group.LastDeliveredID) }

// consumedBetween returns how many entries were delivered between two observations of one
// stream: as many as were added less the growth of the lag (monitoring, Rates). It needs the
// lag at both ends, and is false where that, or what a hand did to the group, leaves it open.
//
// Where Redis counts what the group has read, that count must tell the same. It is the better
// one, of one look at the group instead of two.
func consumedBetween(before, now sight) (int64, bool) {
	if !before.lag.Known() || !now.lag.Known() || now.shard.EntriesAdded == nil {
		return 0, false
	}
	readBefore, read := before.group.EntriesRead, now.group.EntriesRead
	if now.cursor() == before.cursor() {
		byHand := readBefore != nil && (read == nil || *readBefore != *read)
		return 0, !byHand
	}
	if before.cursor().after(now.cursor()) || read == nil { // XGROUP SETID forgets the count
		return 0, false
	}
	if missing := gap(before.shard, before.group); missing == nil || *missing > 0 {
		return 0, false // some servers count what the group passes over as read
	}
	added := *now.shard.EntriesAdded - *before.shard.EntriesAdded
	consumed := added - (*now.lag.Value - *before.lag.Value)
	if readBefore == nil {
		ahead := before.cursor().after(idOf(before.shard.LastGeneratedID)) // it passes what is added up to there
		return consumed, consumed > 0 && !ahead
	}
	counted := *read - *readBefore
	differ := max(counted-consumed, consumed-counted)
	return counted, counted > 0 && differ <= added/skewPart
}

// skewPart is which part of the added entries may come between the looks at a stream and at
// its groups.
const skewPart = 50
