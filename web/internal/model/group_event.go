package model

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// eventMoves is how many shards an event lists.
	eventMoves = 4
	// reasonShown is how many bytes of what somebody wrote are shown.
	reasonShown = 200
)

// Timeline is the newest changes of a group's structure, newest first.
type Timeline struct {
	Known bool
	Lines []EventLine
}

// EventLine is one change of the structure.
type EventLine struct {
	At Stamp
	// What happened, to which member; Member may be empty.
	What, Member string
	// By and Reason are an operator's; both may be empty.
	By, Reason string
	// Moved counts the shards that changed hands, Moves lists the first of them.
	Moved int
	Moves []string
	// Took is how long it was until the last shard had changed hands that did because of it,
	// Slowest who was last; both are empty where they are not known.
	Took, Slowest string
	Epoch         string
}

// NewTimeline makes the timeline of events, oldest first; settled tells that nothing that began is
// under way any more. Nil events are not known.
func NewTimeline(events []protocol.GroupEvent, settled bool) Timeline {
	shown := Timeline{Known: events != nil}
	ends := rebalances(events, settled)
	for i, event := range slices.Backward(events) {
		line := eventLine(event)
		if end, begins := ends[i]; begins {
			line.Took = Duration(max(0, events[end].At.Sub(event.At.Time)))
			line.Slowest = short(releaser(events[end]))
		}
		shown.Lines = append(shown.Lines, line)
	}
	return shown
}

// rebalances returns for each event that began a new epoch the last one of that epoch in which
// shards changed hands. It leaves out those in which none did after the first, one of which the
// beginning may not be there, and the newest one unless it is over.
func rebalances(events []protocol.GroupEvent, over bool) map[int]int {
	ends := map[int]int{}
	for from := 0; from < len(events); {
		to, last := from, from
		for ; to < len(events) && sameEpoch(events[from], events[to]); to++ {
			if moved(events[to]) > 0 {
				last = to
			}
		}
		if from > 0 && last > from && (to < len(events) || over) {
			ends[from] = last
		}
		from = to
	}
	return ends
}

func sameEpoch(a, b protocol.GroupEvent) bool {
	return a.GroupEpoch == b.GroupEpoch && a.Lineage == b.Lineage
}

// releaser is the member that an event waited for: who gave a shard back, or else took it.
func releaser(event protocol.GroupEvent) string {
	for _, want := range []protocol.EventCause{protocol.EventRelease, protocol.EventFenceTimeout, protocol.EventExpire, protocol.EventGrant} {
		for _, change := range event.Changes {
			if change.Cause == want && change.MemberID != "" {
				return change.MemberID
			}
		}
	}
	if event.MemberID != nil {
		return *event.MemberID
	}
	return ""
}

func moved(event protocol.GroupEvent) int {
	count := 0
	for _, each := range event.Shards {
		if changesHands(each) {
			count++
		}
	}
	return count
}

func changesHands(change protocol.ShardChange) bool {
	return change.Hold != nil && holderName(change.Hold.Before) != holderName(change.Hold.After)
}

func holderName(hold *protocol.HoldState) string {
	if hold == nil {
		return "nobody"
	}
	return short(hold.MemberID)
}

func eventLine(event protocol.GroupEvent) EventLine {
	line := EventLine{At: stampOf(event.At), What: causeWords(event.Cause), Epoch: strconv.FormatInt(event.GroupEpoch, 10)}
	if event.MemberID != nil {
		line.Member = short(*event.MemberID)
	}
	if event.Action != nil {
		line.What = actionWords(*event.Action)
	}
	if event.Actor != nil {
		line.By = short(*event.Actor)
	}
	if event.Reason != nil {
		line.Reason = cut(*event.Reason, reasonShown)
	}
	for _, each := range event.Shards {
		if !changesHands(each) {
			continue
		}
		line.Moved++
		if len(line.Moves) < eventMoves {
			line.Moves = append(line.Moves, strconv.Itoa(each.Shard)+": "+holderName(each.Hold.Before)+" → "+holderName(each.Hold.After))
		}
	}
	if more := line.Moved - len(line.Moves) + event.ShardsLeftOut; more > 0 && line.Moved > 0 {
		line.Moves = append(line.Moves, "and "+Count(int64(more))+" more")
	}
	return line
}

// causeWords says why the structure changed (protocol, Flight recorder).
func causeWords(cause protocol.EventCause) string {
	for _, each := range []struct {
		cause protocol.EventCause
		words string
	}{
		{protocol.EventJoin, "a member joined"},
		{protocol.EventTakeover, "another process took a member id over"},
		{protocol.EventLeave, "a member left"},
		{protocol.EventSuspend, "a member restarts"},
		{protocol.EventExpire, "a member was no longer heard"},
		{protocol.EventFenceReport, "a member was fenced: it read what was not its own"},
		{protocol.EventFenceTimeout, "a member was fenced: it did not release in time"},
		{protocol.EventScale, "the shard count changes"},
		{protocol.EventRollback, "a resharding is undone"},
		{protocol.EventSeal, "removed shards were sealed"},
		{protocol.EventReprovision, "a lost shard was made again"},
		{protocol.EventCorrection, "lost writes were noticed: members synchronise"},
		{protocol.EventAdmin, "an operator changed something"},
		{protocol.EventRelease, "shards were released"},
		{protocol.EventTold, "members were told to release shards"},
		{protocol.EventHandBack, "members may keep what they were to release"},
		{protocol.EventGrant, "shards were given"},
		{protocol.EventLingerOver, "blocked shards came free"},
		{protocol.EventBarrierOver, "the barrier is over: shards can be given again"},
		{protocol.EventRoundOver, "all members are synchronised again"},
		{protocol.EventGrace, "no coordinator was there for a while: leases go on longer"},
		{protocol.EventForget, "the record of a former member went"},
		{protocol.EventIdentity, "the store is another one than before"},
		{protocol.EventOther, "bookkeeping"},
		{protocol.EventUnreadable, "an entry that cannot be read"},
	} {
		if each.cause == cause {
			return each.words
		}
	}
	return Words(string(cause))
}

// actionWords says what an operator did.
func actionWords(action protocol.EventAction) string {
	for _, each := range []struct {
		action protocol.EventAction
		words  string
	}{
		{protocol.ActionCreate, "the group was created"},
		{protocol.ActionDelete, "the group was deleted"},
		{protocol.ActionDiscard, "metadata that could not be read made way"},
		{protocol.ActionScale, "the shard count changes"},
		{protocol.ActionRollback, "a resharding is undone"},
		{protocol.ActionConfirm, "an operator vouched for a removed shard"},
		{protocol.ActionBarrier, "a barrier was asked for"},
		{protocol.ActionUnbar, "the barrier was ended"},
		{protocol.ActionFence, "a member was thrown out"},
	} {
		if each.action == action {
			return each.words
		}
	}
	return Words(string(action))
}

// ChangeList is the newest changes that somebody asked for, newest first.
type ChangeList struct {
	// Known tells that the audit could be read.
	Known bool
	Lines []ChangeLine
}

// ChangeLine is a change that somebody asked for.
type ChangeLine struct {
	At Stamp
	// Who is the user, For the one who was named in the request where that is another.
	Who, For string
	What     string
	Reason   string
	// Outcome is how it ended, Tone how good that is.
	Outcome, Tone string
}

func (m *groupMaker) changes() ChangeList {
	if m.details.Mutations == nil {
		return ChangeList{}
	}
	list := ChangeList{Known: true}
	for _, each := range *m.details.Mutations {
		line := ChangeLine{
			At: stampOf(each.Time), Who: short(each.Principal), What: Words(cmp.Or(each.Operation, each.Method+" "+each.Route)),
			Reason: cut(each.Reason, reasonShown),
		}
		if each.RequestedBy != each.Principal {
			line.For = short(each.RequestedBy)
		}
		line.Outcome, line.Tone = outcomeOf(each)
		list.Lines = append(list.Lines, line)
	}
	return list
}

func outcomeOf(change protocol.RecentMutation) (words, tone string) {
	why := ""
	if change.ErrorCode != "" {
		why = ": " + cut(Words(change.ErrorCode), idShown)
	}
	switch {
	case change.Kind == protocol.AuditIntent:
		return "under way, or its end is not known", "busy"
	case change.Result == protocol.AuditAllowed:
		return "done", "good"
	case change.Result == protocol.AuditRefused:
		return "refused" + why, "warn"
	case change.Result == protocol.AuditFailed:
		return "not known whether it was done" + why, "bad"
	default:
		return Words(string(change.Result)) + why, "warn"
	}
}
