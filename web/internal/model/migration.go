package model

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// drainsShown is how many removed shards one page shows.
const drainsShown = 100

// Migration is the page of one resharding.
type Migration struct {
	MigrationLine
	Stream, Group string
	// Home is the address of the group, All that of its reshardings, Live that of the page's
	// events, which is empty when it is over. Rollback leads to undoing it, and is empty where
	// that would not be taken.
	Home, All, Live, Rollback string
	Over                      bool
	Meaning                   string
	// Done of Total steps are done: shards, groups that have to copy the layout, and the end.
	// Total is 0 where there is nothing to count. Progress says it in words, Waiting what is
	// waited for; empty for nothing that is known.
	Done, Total       int
	Progress, Waiting string
	// Left is how long it takes by the rates that were observed last; empty where it waits for no
	// reading.
	Left string
	// LastError is what stopped the last try to go on; empty for nothing.
	LastError string
	// DrainingFrom is when producers can no longer write to removed shards.
	DrainingFrom Stamp
	Waits        []GroupWait
	Drains       []DrainLine
	Pager        Pager
}

// GroupWait is how far a group has come.
type GroupWait struct{ Group, Address, Says, Tone string }

// DrainLine is one removed shard.
type DrainLine struct {
	Index, Key, Phase, Tone string
	// Why says what keeps it, since Since, Advice what can be done about that.
	Why, Advice  string
	Since        Stamp
	Owners       []string
	Pending, Lag string
	// Tail is the first record that was not read; empty for none.
	Tail string
	// Left is how long its reading takes.
	Left string
	// Proof says why it is empty, Retired where its records are kept; both may be empty.
	Proof, Retired string
	// Confirm leads to taking an operator's word for it; empty where that would not be taken.
	Confirm string
}

// MigrationQuery is which part of a resharding is shown.
type MigrationQuery struct {
	Stream, Group string
	// Page is the page of removed shards.
	Page int
}

// NewMigration makes the page of a resharding. rows are the group's shards as they were observed
// last, by index; nil where nobody knows.
func NewMigration(of protocol.Migration, query MigrationQuery, rows map[int]protocol.GrafanaShardRow, root string) Migration {
	stream, group := query.Stream, query.Group
	address := MigrationPath(root, stream, group, of.ReshardingID)
	page := Migration{
		MigrationLine: migrationLine(of, address), Stream: stream, Group: group, Home: GroupPath(root, stream, group, ""),
		All: GroupPath(root, stream, group, migrationsPath), Over: Over(of.State), Meaning: migrationMeaning(of.State),
	}
	if of.RollbackAllowed {
		page.Rollback = address + "/rollback"
	}
	if !page.Over {
		page.Live = withQuery(root+"/live", "page", "migration", "stream", stream, "group", group, "id", of.ReshardingID, "at", pageText(query.Page))
	}
	if of.Progress == nil {
		return page
	}
	page.learn(of, root)
	drains := make([]DrainLine, len(of.Progress.Shards))
	for i, drain := range of.Progress.Shards {
		drains[i] = drainLine(drain, group, rows, address)
	}
	page.Left = leftOf(of.Progress.Shards, group, rows)
	page.Drains, page.Pager = paged(drains, query.Page, drainsShown, func(at string) string { return withQuery(address, "at", at) })
	return page
}

func (m *Migration) learn(of protocol.Migration, root string) {
	progress := *of.Progress
	m.LastError = named(progress.LastError, "")
	m.Done, m.Total = of.Steps()
	m.Progress, m.Waiting = progressWords(of), waitingFor(of)
	if progress.DrainingFrom != nil {
		m.DrainingFrom = stampOf(*progress.DrainingFrom)
	}
	for _, group := range progress.Groups {
		wait := GroupWait{group.ConsumerGroup, GroupPath(root, m.Stream, group.ConsumerGroup, ""), "has settled", "good"}
		switch {
		case of.State == protocol.MigrationPreparing: // the layout that it has is the old one
			wait.Says, wait.Tone = "reads on as before", "good"
		case !group.Copied:
			wait.Says, wait.Tone = "has not copied the layout yet", "warn"
		case !group.Settled:
			wait.Says, wait.Tone = "is handing shards over", "busy"
		}
		m.Waits = append(m.Waits, wait)
	}
}

func drainLine(drain protocol.ShardDrain, group string, rows map[int]protocol.GrafanaShardRow, address string) DrainLine {
	line := DrainLine{
		Index: strconv.Itoa(drain.ShardIndex), Key: drain.StreamKey, Pending: MaybeCount(drain.Pending), Lag: MaybeCount(drain.Lag),
		Tail: named(drain.TailID, ""), Proof: proofWords(drain.Proof), Retired: named(drain.RetiredKey, ""), Left: Unknown,
	}
	line.Phase, line.Tone = drainWords(drain.Phase)
	if drain.Since != nil {
		line.Since = stampOf(*drain.Since)
	}
	for _, owner := range drain.Owners {
		line.Owners = append(line.Owners, owner.MemberID+" for "+owner.ConsumerGroup)
	}
	switch {
	case drain.Reason != nil:
		line.Why, line.Advice = drainReason(drain)
	case drain.Phase == protocol.DrainReading:
		line.Why = "It was not looked at yet: producers may still write to it until their routing has run out."
	}
	if confirmable(drain) {
		line.Confirm = withQuery(address+"/confirm-drain", "shard", line.Index)
		line.Tone = "warn"
	}
	if seconds := secondsLeft(drain, group, rows); seconds != nil {
		line.Left = Seconds(seconds)
	}
	return line
}

// secondsLeft is how long the group needs for what is unread of a removed shard, nil where
// nobody knows: another group is waited for, or more than reading.
func secondsLeft(drain protocol.ShardDrain, group string, rows map[int]protocol.GrafanaShardRow) *float64 {
	row, observed := rows[drain.ShardIndex]
	if !observed || drain.Reason == nil || *drain.Reason != protocol.DrainUnread || named(drain.BlockingGroup, group) != group {
		return nil
	}
	return row.TimeToDrainSeconds
}

// leftOf is how long the reading of all removed shards takes: as long as that of the slowest.
func leftOf(drains []protocol.ShardDrain, group string, rows map[int]protocol.GrafanaShardRow) string {
	left := ""
	longest := 0.0
	for _, drain := range drains {
		if drain.Phase != protocol.DrainReading || drain.Reason == nil {
			continue
		}
		seconds := secondsLeft(drain, group, rows)
		if seconds == nil {
			return Unknown
		}
		longest = max(longest, *seconds)
		left = Seconds(&longest)
	}
	return left
}
