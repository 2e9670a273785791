package model

import (
	"strconv"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// GroupHead is a group at a glance.
type GroupHead struct {
	State, Tone string
	// Meaning says what the state means.
	Meaning string
	Facts   []Fact
	// Epochs are the numbers of the structure.
	Epochs, Version, Lineage string
	Observed                 Stamp
	// Resharding is the one that is under way, nil for none.
	Resharding *Resharding
	// Messages, Migrations and Scale are the addresses of other pages of the group.
	Messages, Migrations, Scale string
}

// Fact is one number.
type Fact struct {
	Name, Value string
	// Hint says more of the number; it may be empty.
	Hint string
	// Spark is how it has come to that; nil where nobody keeps it.
	Spark *Spark
}

// Resharding is a change of the shard count that is under way.
type Resharding struct {
	Text, Address string
	Since         Stamp
}

func (m *groupMaker) head() GroupHead {
	tone, _ := judge(m.row)
	head := GroupHead{
		State: string(m.row.State), Tone: tone, Meaning: stateMeaning(m.row.State), Facts: m.facts(),
		Epochs:  strconv.FormatInt(m.group.GroupEpoch, 10) + " (assigned for " + strconv.FormatInt(m.group.AssignmentEpoch, 10) + ")",
		Version: Count(m.group.MetadataVersion), Lineage: m.group.Lineage, Observed: stampOf(m.row.ObservedAt),
		Messages: m.under("/messages"), Migrations: m.under("/migrations"), Scale: m.under("/scale"),
	}
	if active := m.group.ActiveMigration; active != nil {
		head.Resharding = &Resharding{
			Text:    Count(int64(active.FromShardCount)) + " → " + Count(int64(active.ToShardCount)) + " shards, " + Words(string(active.State)),
			Address: m.under("/migrations/" + pathPart(active.ReshardingID)), Since: stampOf(active.CreatedAt),
		}
	}
	return head
}

func (m *groupMaker) facts() []Fact {
	row := m.row
	members := Count(int64(row.ActiveMembers))
	if row.TotalMembers != row.ActiveMembers {
		members += " of " + Count(int64(row.TotalMembers))
	}
	if m.details.Members == nil && row.TotalMembers == 0 {
		members = Unknown
	}
	lag := Fact{Name: "Lag", Value: MaybeCount(row.TotalLag), Spark: m.spark("Lag", lagOf)}
	if row.TotalLag == nil {
		lag.Hint = "known for " + Count(int64(row.KnownParts)) + " of " + Count(int64(row.AllParts)) + " shards"
	}
	pending := Fact{Name: "Pending", Value: Count(row.TotalPendingCount)}
	if row.Partial {
		pending.Hint = "of the shards that were seen"
	}
	return []Fact{
		{Name: "Shards owned", Value: row.AssignedShardRatio},
		{Name: "Members", Value: members},
		lag,
		{Name: "Produced/s", Value: Rate(row.ProducedPerSecond), Spark: m.spark("Produced/s", producedOf)},
		{Name: "Consumed/s", Value: Rate(row.ConsumedPerSecond), Spark: m.spark("Consumed/s", consumedOf)},
		pending,
		{Name: "Oldest unread", Value: Age(row.OldestUnreadAgeMs)},
		{Name: "Oldest pending", Value: Age(row.OldestPendingAgeMs)},
		{Name: "Time to drain", Value: Seconds(row.TimeToDrainSeconds)},
	}
}

func (m *groupMaker) spark(name string, of func(*protocol.Samples) []*float64) *Spark {
	drawn := sparkOf(name, m.details.Samples, GroupSamples, of)
	return &drawn
}

// stateMeaning says what a group's state means (wire contract, Meaning of states).
func stateMeaning(state protocol.GroupState) string {
	switch state {
	case protocol.GroupEmpty:
		return "No member is alive: nobody reads, and records wait."
	case protocol.GroupAssigning:
		return "Members are alive, and none of them reads a shard yet."
	case protocol.GroupReconciling:
		return "Shards are on their way between members; those that stay where they are go on being read."
	case protocol.GroupStable:
		return "Every shard is read by the member that should read it."
	default:
		return "This console does not know the state; it may be older than the coordinator."
	}
}
