package model

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// groupsShown is how many groups one page of the overview shows.
const groupsShown = 100

// OverviewQuery is which groups the overview shows, and in which order. It is read from the
// page's query.
type OverviewQuery struct {
	// Text has to be part of the stream's or the group's name.
	Text string
	// State is the one to show; empty is every one.
	State string
	// Sort is one of the overview's columns; empty puts problems first.
	Sort string
	Page int
}

// Overview is all groups at a glance.
type Overview struct {
	Query OverviewQuery
	// Live is the address of the page's events.
	Live   string
	States []string
	Lines  []GroupLine
	Pager  Pager
	Totals Totals
	// Troubled is how many groups have a problem.
	Troubled int
	Columns  []Column
	// Unreadable are groups that no line can be made of, MoreUnreadable is how many others are.
	Unreadable     []UnreadableLine
	MoreUnreadable int
}

// Column is a head of a table; its address sorts by it.
type Column struct {
	Name, Address string
	// Number columns stand to the right, Sorted is the one that the table is sorted by.
	Number, Sorted bool
}

// Totals are sums over all groups; what nobody knows of a group is left out of them.
type Totals struct{ Streams, Groups, Shards, Members string }

// GroupLine is one group.
type GroupLine struct {
	Stream, Group, Address string
	State                  string
	// Tone is how much somebody should look: "bad", "warn", "busy" or "good".
	Tone string
	// Problems says what is wrong, empty for nothing.
	Problems []string

	Shards, Members, Lag, Unread, Produced, Consumed, Pending string
	// ProducedSpark and ConsumedSpark are how the rates have come to that.
	ProducedSpark, ConsumedSpark Spark

	row protocol.GrafanaGroupRow
}

// NewOverview makes the overview of all groups' rows.
func NewOverview(rows []protocol.GrafanaGroupRow, query OverviewQuery, root string) Overview {
	page := Overview{Query: query, Live: withQuery(root+"/live", append(query.pairs(""), "page", "overview", "at", pageText(query.Page))...)}
	var lines []GroupLine
	for _, row := range rows {
		line := groupLine(row, root)
		if len(line.Problems) > 0 {
			page.Troubled++
		}
		if query.shows(row) {
			lines = append(lines, line)
		}
	}
	page.Totals, page.States = totalsOf(rows), statesOf(rows)
	if query.State != "" && !slices.Contains(page.States, query.State) {
		page.States = append(page.States, query.State) // the form says what is shown
	}
	slices.SortStableFunc(lines, query.compare)
	page.Lines, page.Pager = paged(lines, query.Page, groupsShown, func(at string) string {
		return withQuery(root, append(query.pairs(query.Sort), "at", at)...)
	})
	for i := range page.Lines { // of those that are shown only
		samples := page.Lines[i].row.Samples
		page.Lines[i].ProducedSpark = sparkOf("Produced/s", samples, RowSamples, producedOf)
		page.Lines[i].ConsumedSpark = sparkOf("Consumed/s", samples, RowSamples, consumedOf)
	}
	page.Columns = columns(query, root)
	return page
}

func (q OverviewQuery) pairs(sort string) []string {
	return []string{"q", q.Text, "state", q.State, "sort", cmp.Or(sort, q.Sort)}
}

func pageText(page int) string {
	if page <= 1 {
		return ""
	}
	return strconv.Itoa(page)
}

func (q OverviewQuery) shows(row protocol.GrafanaGroupRow) bool {
	text := strings.ToLower(q.Text)
	named := strings.Contains(strings.ToLower(row.StreamPrefix), text) || strings.Contains(strings.ToLower(row.ConsumerGroup), text)
	return named && (q.State == "" || q.State == string(row.State))
}

// compare puts those first that somebody should look at, or goes by the column that was chosen,
// largest first.
func (q OverviewQuery) compare(a, b GroupLine) int {
	byName := cmp.Or(natural(a.Stream, b.Stream), natural(a.Group, b.Group), cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Group, b.Group))
	switch q.Sort {
	case "name":
		return byName
	case "state":
		return cmp.Or(cmp.Compare(a.State, b.State), byName)
	case "shards":
		return cmp.Or(cmp.Compare(b.row.ShardCount, a.row.ShardCount), byName)
	case "members":
		return cmp.Or(cmp.Compare(b.row.ActiveMembers, a.row.ActiveMembers), byName)
	case "lag":
		return cmp.Or(descending(a.row.TotalLag, b.row.TotalLag), byName)
	case "unread":
		return cmp.Or(descending(a.row.OldestUnreadAgeMs, b.row.OldestUnreadAgeMs), byName)
	case "produced":
		return cmp.Or(descending(a.row.ProducedPerSecond, b.row.ProducedPerSecond), byName)
	case "consumed":
		return cmp.Or(descending(a.row.ConsumedPerSecond, b.row.ConsumedPerSecond), byName)
	case "pending":
		return cmp.Or(cmp.Compare(b.row.TotalPendingCount, a.row.TotalPendingCount), byName)
	default:
		return cmp.Or(cmp.Compare(urgency(a.Tone), urgency(b.Tone)), byName)
	}
}

func urgency(tone string) int { return slices.Index([]string{"bad", "warn", "busy", "good"}, tone) }

// descending puts the larger one first, and what is unknown last.
func descending[T cmp.Ordered](a, b *T) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	default:
		return cmp.Compare(*b, *a)
	}
}

func columns(query OverviewQuery, root string) []Column {
	made := make([]Column, 0, 9)
	for _, each := range []struct{ sort, name string }{
		{"name", "Stream / group"},
		{"state", "State"},
		{"shards", "Shards"},
		{"members", "Members"},
		{"lag", "Lag"},
		{"unread", "Oldest unread"},
		{"produced", "Produced/s"},
		{"consumed", "Consumed/s"},
		{"pending", "Pending"},
	} {
		made = append(made, Column{
			Name: each.name, Address: withQuery(root, query.pairs(each.sort)...),
			Number: each.sort != "name" && each.sort != "state", Sorted: query.Sort == each.sort,
		})
	}
	return made
}

func groupLine(row protocol.GrafanaGroupRow, root string) GroupLine {
	line := GroupLine{
		Stream: row.StreamPrefix, Group: row.ConsumerGroup, Address: GroupPath(root, row.StreamPrefix, row.ConsumerGroup, ""),
		State: string(row.State), Shards: row.AssignedShardRatio, Members: Count(int64(row.ActiveMembers)),
		Lag: MaybeCount(row.TotalLag), Unread: Age(row.OldestUnreadAgeMs), Produced: Rate(row.ProducedPerSecond), Consumed: Rate(row.ConsumedPerSecond),
		Pending: Count(row.TotalPendingCount), row: row,
	}
	line.Tone, line.Problems = judge(row)
	return line
}

// judge says how much somebody should look at a group, and why.
func judge(row protocol.GrafanaGroupRow) (tone string, problems []string) {
	tone = "good"
	if row.State == protocol.GroupReconciling || row.State == protocol.GroupAssigning || row.RevokingShards > 0 {
		tone = "busy"
	}
	if row.CurrentShards < row.ShardCount {
		tone = "warn"
		problems = append(problems, plural(row.ShardCount-row.CurrentShards, "shard", "nobody reads"))
	}
	if row.TrimmedUnreadAlarm {
		tone = "bad"
		lost := "records went away before they were read"
		if row.TrimmedUnread != nil && *row.TrimmedUnread > 0 {
			lost = plural(int(*row.TrimmedUnread), "record", "went away unread")
		}
		problems = append(problems, lost)
	}
	if row.Problem != nil {
		tone = "bad"
		problems = append(problems, Words(*row.Problem))
	}
	return tone, problems
}

// plural says how many of something do something.
func plural(n int, thing, does string) string {
	if n == 1 {
		return "1 " + thing + " " + does
	}
	return Count(int64(n)) + " " + thing + "s " + does
}

// Words writes the name of a code as words: STREAM_MISSING is "stream missing".
func Words(code string) string { return strings.ToLower(strings.ReplaceAll(code, "_", " ")) }

func totalsOf(rows []protocol.GrafanaGroupRow) Totals {
	streams := map[string]int{}
	members := 0
	for _, row := range rows {
		streams[row.StreamPrefix] = row.ShardCount
		members += row.ActiveMembers
	}
	shards := 0
	for _, count := range streams {
		shards += count
	}
	return Totals{Count(int64(len(streams))), Count(int64(len(rows))), Count(int64(shards)), Count(int64(members))}
}

func statesOf(rows []protocol.GrafanaGroupRow) []string {
	var states []string
	for _, row := range rows {
		if !slices.Contains(states, string(row.State)) {
			states = append(states, string(row.State))
		}
	}
	slices.Sort(states)
	return states
}
