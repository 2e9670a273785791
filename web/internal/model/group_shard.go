package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// ShardMap is the shards of a group: who reads them and how far that has come.
type ShardMap struct {
	Lines []ShardLine
	Pager Pager
	// Total is how many shards there are, Open how many of them are not read by who should.
	Total, Open int
	// All and OnlyOpen are the addresses that show them.
	All, OnlyOpen string
}

// ShardLine is one shard.
type ShardLine struct {
	Index string
	// Messages is the address of its records, PendingAt that of its pending entries; the latter
	// is empty where nothing is pending.
	Messages, PendingAt string
	// Owner reads it now, Wanted is to; Wanted is empty where they are the same.
	Owner, Wanted string
	// State is how far the hand-off has come, in words, Tone how much that matters.
	State, Tone string
	// Why says who has to do what, nil where nobody has to.
	Why *Why
	// Problem says what is wrong with it, empty for nothing.
	Problem string

	Lag, Unread, Produced, Consumed, Pending, Length string
	Node, Slot                                       string
}

func (m *groupMaker) shardMap() ShardMap {
	shown := ShardMap{Total: len(m.scene.Rows), All: m.address(GroupQuery{Members: m.query.Members}) + "#shards"}
	shown.OnlyOpen = m.address(GroupQuery{Open: true, Members: m.query.Members}) + "#shards"
	rows := make([]protocol.GrafanaShardRow, 0, len(m.scene.Rows))
	for _, row := range m.scene.Rows {
		open := row.OwnerState != protocol.OwnerCurrent
		if open {
			shown.Open++
		}
		if m.query.Shard != "" && m.query.Shard != strconv.Itoa(row.ShardIndex) || m.query.Open && !open {
			continue
		}
		rows = append(rows, row)
	}
	rows, shown.Pager = paged(rows, m.query.At, linesShown, func(at string) string {
		query := m.query
		query.At, _ = strconv.Atoi(at)
		return m.address(query) + "#shards"
	})
	for _, row := range rows {
		shown.Lines = append(shown.Lines, m.shardLine(row))
	}
	return shown
}

func (m *groupMaker) shardLine(row protocol.GrafanaShardRow) ShardLine {
	line := ShardLine{
		Index: strconv.Itoa(row.ShardIndex), Messages: withQuery(m.under("/messages"), "shard", strconv.Itoa(row.ShardIndex)),
		Owner: owners(row.CurrentOwnerMemberIDs), Why: m.why(row), Slot: strconv.Itoa(row.RedisSlot), Node: Unknown,
		Lag: MaybeCount(row.Lag), Unread: Age(row.OldestUnreadAgeMs), Produced: Rate(row.ProducedPerSecond), Consumed: Rate(row.ConsumedPerSecond),
		Pending: Count(row.PendingCount), Length: Count(row.StreamLength),
	}
	if row.PendingCount > 0 {
		line.PendingAt = withQuery(m.under("/pending"), "shard", line.Index)
	}
	line.State, line.Tone = ownerWords(row.OwnerState)
	if row.TargetOwnerMemberIDs != row.CurrentOwnerMemberIDs {
		line.Wanted = owners(row.TargetOwnerMemberIDs)
	}
	if row.RedisNodeEndpoint != nil {
		line.Node = cut(*row.RedisNodeEndpoint, idShown)
	}
	switch {
	case row.Problem != nil: // the numbers that cannot be null are 0 then
		line.Problem, line.Tone, line.Pending, line.Length = KindOfProblem(*row.Problem).Title, "bad", Unknown, Unknown
		line.PendingAt = ""
	case row.TrimmedUnreadAlarm:
		line.Problem, line.Tone = KindOfProblem(protocol.ProblemTrimmedUnread).Title, "bad"
	case row.GroupRegressed:
		line.Problem, line.Tone = KindOfProblem(protocol.ProblemRegressed).Title, "warn"
	case !row.LagKnown && row.LagReason != nil:
		line.Problem = KindOfProblem(string(*row.LagReason)).Title
	}
	return line
}

// owners writes the owners of a row, which are joined by commas.
func owners(joined string) string {
	if joined == "" {
		return "nobody"
	}
	return cut(strings.ReplaceAll(joined, ",", ", "), 2*idShown)
}

// ownerWords says how far the hand-off of a shard has come (wire contract, Meaning of states).
func ownerWords(state protocol.OwnerState) (words, tone string) {
	switch state {
	case protocol.OwnerCurrent:
		return "read", "good"
	case protocol.OwnerPendingAck:
		return "given, not confirmed", "busy"
	case protocol.OwnerTransitioning:
		return "changing hands", "busy"
	case protocol.OwnerUnassigned:
		return "nobody's", "warn"
	default:
		return Words(string(state)), "warn"
	}
}
