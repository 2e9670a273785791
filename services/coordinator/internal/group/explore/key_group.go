package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// group writes a state of the group.
func (k *keyer) group(g *group.Group) {
	if k.seen(g) {
		return
	}
	k.lineage(g.Lineage)
	k.number(int64(len(g.Known)))
	for _, known := range g.Known {
		k.lineage(known)
	}
	k.identity(g.Identity)
	k.version(g.ClaimedVersion)
	k.epoch(g.ClaimedEpoch)
	k.epoch(g.EpochCounter)
	k.version(g.MetadataVersion)
	k.layout(g.LayoutVersion)
	k.number(int64(g.ShardCount))
	k.number(int64(g.Removed))
	k.shards(g.Closed)
	k.shards(g.Lost)
	k.until(g.BarrierUntil)
	k.until(max(g.GraceUntil, 1)) // never and long ago are the same
	if k.flags(g.Round != nil); g.Round != nil {
		k.version(g.Round.OpenedVersion)
	}
	k.number(int64(len(g.Holds)))
	for shard, h := range g.Holds {
		k.id(g.Target[shard])
		k.id(h.Member)
		k.life(h.Incarnation)
		k.flags(h.Told)
		k.until(h.Lingers)
	}
	k.number(int64(len(g.Members)))
	for _, m := range g.Members {
		k.member(m)
	}
}

func (k *keyer) member(m group.Member) {
	k.id(m.ID)
	k.life(m.Incarnation)
	k.text(string(m.State))
	switch m.State {
	case group.Active, group.Leaving, group.Suspended: // nobody looks at it
	case group.Waiting, group.Expired, group.Fenced, group.Left:
		k.since(m.Since, k.cfg.StaleRetention)
	}
	k.epoch(m.Epoch)
	k.epoch(m.JoinEpoch)
	k.epoch(m.RoundFloor)
	k.until(m.DropBy)
	k.text(string(m.Cause))
}

func (k *keyer) image(i *image) {
	k.group(i.g)
	k.liveness(i.live)
	k.since(i.servedAt, k.cfg.Lease)
}

func (k *keyer) liveness(l lives) {
	k.number(int64(len(l)))
	for i := range l {
		k.id(l[i].id)
		k.life(l[i].Incarnation)
		k.sequence(l[i].Incarnation, l[i].Sequence)
		if l[i].Incarnation == "" {
			k.request(l[i].RequestID)
		}
		k.until(l[i].Deadline)
		k.version(l[i].SyncVersion)
		k.since(l[i].SuccessorAt, k.cfg.Lease)
		if l[i].SuccessorAt != 0 {
			k.life(l[i].Successor)
		}
	}
}
