package codec

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Bounds that no record reaches; beyond them sums overflow and times cannot be written.
const (
	maxNumber = 1 << 62
	maxMillis = 253_402_300_799_999 // the end of the year 9999
	maxShards = 1 << 20             // no store keeps a group of more
)

// checkGroup refuses what no commit can have written. It can be strict, as a commit
// leaves a settled group: what it names exists, who holds may hold, who is told to drop
// is not wanted. A group that breaks this could hand one shard to two members.
func checkGroup(g *group.Group) error {
	checks := []func(*group.Group) error{
		checkNames, checkNumbers, checkTimes, checkShards, checkRound, checkMembers, checkTarget, checkHolds,
	}
	for _, check := range checks {
		if err := check(g); err != nil {
			return err
		}
	}
	return nil
}

func checkNames(g *group.Group) error {
	if err := protocol.CheckStreamPrefix(g.StreamPrefix, ""); err != nil {
		return badName("streamPrefix", err)
	}
	if err := protocol.CheckConsumerGroup(g.ConsumerGroup); err != nil {
		return badName("consumerGroup", err)
	}
	return nil
}

func checkNumbers(g *group.Group) error {
	switch {
	case g.Lineage == "":
		return corrupt("lineage", "is empty")
	case len(g.Known) > group.MaxKnown:
		return corrupt("known", "has more lineages than are kept")
	case g.ClaimedVersion < 0:
		return corrupt("claimedVersion", "is negative")
	case g.ClaimedEpoch < 0:
		return corrupt("claimedEpoch", "is negative")
	case g.MetadataVersion < 1 || g.MetadataVersion > maxNumber:
		return corrupt("metadataVersion", "is out of range")
	case g.GroupEpoch < 1 || g.GroupEpoch > maxNumber:
		return corrupt("groupEpoch", "is out of range")
	case g.AssignmentEpoch < 1 || g.AssignmentEpoch > g.GroupEpoch:
		return corrupt("assignmentEpoch", "is below 1 or above groupEpoch")
	case g.EpochCounter < 0 || g.EpochCounter > maxNumber:
		return corrupt("epochCounter", "is out of range")
	}
	return nil
}

func checkTimes(g *group.Group) error {
	switch {
	case outside(g.BarrierUntil):
		return corrupt("barrierUntil", "is no time")
	case outside(g.GraceUntil):
		return corrupt("graceUntil", "is no time")
	case outside(g.CreatedAt):
		return corrupt("createdAt", "is no time")
	}
	return nil
}

func checkShards(g *group.Group) error {
	switch {
	case len(g.Target) != len(g.Holds):
		return corrupt("holds", "has another length than target")
	case g.ShardCount < 0 || g.Removed < 0 || g.Removed > len(g.Target)-g.ShardCount:
		return corrupt("shardCount", "is negative, or with removed above the target's length")
	case g.LayoutVersion < 0 || g.LayoutVersion > maxNumber:
		return corrupt("layoutVersion", "is out of range")
	case !ascends(g.Closed, g.ShardCount, g.ReadCount()):
		return corrupt("closed", "is not in order or names shards that are not removed")
	case !ascends(g.Lost, 0, g.ReadCount()):
		return corrupt("lost", "is not in order or names shards outside the reading set")
	case len(g.Target) > g.ReadCount() && g.Holds[len(g.Holds)-1] == (group.Hold{}):
		return corrupt("holds", "ends with a free shard outside the reading set")
	}
	return nil
}

// ascends tells whether the indexes rise and are within from ≤ index < to.
func ascends(indexes []int, from, to int) bool {
	for i, index := range indexes {
		if index < from || index >= to || i > 0 && indexes[i-1] >= index {
			return false
		}
	}
	return true
}

// checkRound: a member without a mark counts as marked in a round opened at version 0 (M4).
func checkRound(g *group.Group) error {
	switch {
	case g.Round == nil:
	case g.Round.OpenedVersion < 1 || g.Round.OpenedVersion > g.MetadataVersion:
		return corrupt("round.openedVersion", "is below 1 or above metadataVersion")
	case outside(g.Round.OpenedAt):
		return corrupt("round.openedAt", "is no time")
	}
	return nil
}

func checkMembers(g *group.Group) error {
	for i, m := range g.Members {
		field := func(name string) string { return fmt.Sprintf("members[%d].%s", i, name) }
		if err := protocol.CheckMemberID(m.ID); err != nil {
			return badName(field("id"), err)
		}
		switch {
		case i > 0 && g.Members[i-1].ID >= m.ID:
			return corrupt(field("id"), "is repeated or not in order")
		case !knownState(m.State):
			return corrupt(field("state"), "is unknown")
		case m.Epoch < 1 || m.Epoch > g.EpochCounter:
			return corrupt(field("epoch"), "was never given")
		case m.JoinEpoch < 1 || m.JoinEpoch > m.Epoch:
			return corrupt(field("joinEpoch"), "is below 1 or above epoch")
		case m.RoundFloor < 0 || m.RoundFloor > m.JoinEpoch || m.RoundFloor != 0 && g.Round == nil:
			return corrupt(field("roundFloor"), "is negative, above joinEpoch, or there is no round")
		case m.Since == 0 || outside(m.Since):
			return corrupt(field("since"), "is no time")
		case outside(m.DropBy):
			return corrupt(field("dropBy"), "is no time")
		}
	}
	return nil
}

func checkTarget(g *group.Group) error {
	for shard, id := range g.Target {
		if id == "" {
			continue
		}
		if !g.Open(shard) {
			return corrupt(fmt.Sprintf("target[%d]", shard), "names an owner for a shard that is not read")
		}
		if m, _ := g.Find(id); !m.Eligible() {
			return corrupt(fmt.Sprintf("target[%d]", shard), "names no member that may own shards")
		}
	}
	return nil
}

func checkHolds(g *group.Group) error {
	told := map[string]bool{}
	for shard, h := range g.Holds {
		if h == (group.Hold{}) {
			continue
		}
		if wrong := wrongHold(g, h, g.Target[shard]); wrong != "" {
			return corrupt(fmt.Sprintf("holds[%d]", shard), wrong)
		}
		if h.Told {
			told[h.Member] = true
		}
	}
	stopped := g.BarrierUntil != 0
	for i, m := range g.Members {
		if m.DropBy != 0 && (stopped || !told[m.ID]) { // H3: the timer would fence without a cause
			return corrupt(fmt.Sprintf("members[%d].dropBy", i), "runs though the member is told nothing or time stands still")
		}
	}
	return nil
}

// wrongHold says what is wrong with a hold, "" when nothing is. A hold that lingers only
// blocks; one that does not belongs to the member's present life (H4).
func wrongHold(g *group.Group, h group.Hold, target string) string {
	m, found := g.Find(h.Member)
	switch {
	case !found:
		return "names no member with a record"
	case outside(h.Lingers):
		return "lingers until no time"
	case h.Lingers != 0 && h.Told:
		return "lingers and is told"
	case h.Lingers != 0:
		return ""
	case !m.Listening():
		return "does not linger though its member is gone"
	case h.Incarnation != m.Incarnation:
		return "is of another incarnation and does not linger"
	case h.Told == (target == h.Member):
		return "is told though wanted, or wanted elsewhere and not told"
	}
	return ""
}

func knownState(state group.MemberState) bool {
	switch state {
	case group.Active, group.Leaving, group.Suspended, group.Waiting, group.Expired, group.Fenced, group.Left:
		return true
	default:
		return false
	}
}

// outside tells whether at is neither 0 nor a time.
func outside(at group.Millis) bool { return at < 0 || at > maxMillis }

func badName(field string, err error) error { return fmt.Errorf("%w: %s: %w", ErrCorrupt, field, err) }
