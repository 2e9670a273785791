package model

import (
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// linesShown is how many shards, or members, one page of a group shows.
	linesShown = 100
	// idShown is how many bytes of an id are shown within other text.
	idShown = 48
)

// GroupQuery is what of a group is shown. It is read from the page's query.
type GroupQuery struct {
	Stream, Group string
	// Shard is the index of the one to show; empty is every one.
	Shard string
	// Open leaves out the shards that are read by who should.
	Open bool
	// At and Members are the pages of shards and members, from 1.
	At, Members int
}

// Group is one group: what is wrong, where, since when, and what can be done.
type Group struct {
	Query GroupQuery
	// Address is the page's, Live that of its events.
	Address, Live string
	Head          GroupHead
	Problems      []Problem
	Shards        ShardMap
	Members       MemberList
	Timeline      Timeline
	Changes       ChangeList
	// Gone says why there is nothing to show, empty where there is. Waiting tells that not all is
	// known yet of what there will be.
	Gone    string
	Waiting bool
	// Missing says what could not be asked for.
	Missing []string
}

// groupMaker holds what the parts of a page are made of.
type groupMaker struct {
	scene   *Scene
	group   *protocol.GroupResponse
	row     protocol.GrafanaGroupRow
	details *GroupDetails
	query   GroupQuery
	root    string
	members map[string]*protocol.MemberMetadata
	// changed is when a shard got its present owner, or the one it has to get.
	changed map[int]protocol.Timestamp
}

// NewGroup makes the page of a group of what is known of it.
func NewGroup(scene *Scene, query GroupQuery, root string) Group {
	m := &groupMaker{scene: scene, query: query, root: root, group: scene.Group, details: scene.Details}
	page := Group{Query: query, Address: m.address(query), Live: m.live()}
	row, found := scene.Groups[protocol.GroupName{StreamPrefix: query.Stream, ConsumerGroup: query.Group}]
	switch {
	case !found:
		page.Gone = m.gone()
		return page
	case m.group == nil: // of a connection that has just begun
		page.Waiting = true
		return page
	}
	if m.details == nil {
		m.details = &GroupDetails{At: scene.At}
	}
	m.row = row
	m.changed = changedIn(m.details.Events)
	page.Head, page.Problems = m.head(), m.problems()
	page.Shards, page.Members = m.shardMap(), m.memberList()
	page.Timeline = NewTimeline(m.details.Events, row.State == protocol.GroupStable)
	page.Changes, page.Missing = m.changes(), m.details.Missing
	return page
}

// changedIn tells when each shard changed last, in events that come oldest first.
func changedIn(events []protocol.GroupEvent) map[int]protocol.Timestamp {
	changed := map[int]protocol.Timestamp{}
	for _, event := range events {
		for _, shard := range event.Shards {
			changed[shard.Shard] = event.At
		}
	}
	return changed
}

// member returns a member by its id, nil where it is not listed.
func (m *groupMaker) member(id string) *protocol.MemberMetadata {
	if m.members == nil { // only needed where a shard changes hands
		m.members = make(map[string]*protocol.MemberMetadata, len(m.details.Members))
		for i := range m.details.Members {
			m.members[m.details.Members[i].MemberID] = &m.details.Members[i]
		}
	}
	return m.members[id]
}

// gone says why a group cannot be shown.
func (m *groupMaker) gone() string {
	for _, each := range m.scene.Unreadable {
		if each.StreamPrefix == m.query.Stream && each.ConsumerGroup == m.query.Group {
			return "The coordinator cannot read this group's metadata: " + Words(each.Problem) + ". Reload the page for what can be done."
		}
	}
	if m.scene.Problem != "" {
		return "The monitor cannot tell the groups at the moment: " + cut(m.scene.Problem, detailShown)
	}
	return "The monitor does not see this group: it was deleted, or not looked at since it was made. The overview lists what is there."
}

// pairs are the query's values.
func (q GroupQuery) pairs() []string {
	open := ""
	if q.Open {
		open = "1"
	}
	return []string{"shard", q.Shard, "open", open, "at", pageText(q.At), "members", pageText(q.Members)}
}

// address returns that of the page with another query.
func (m *groupMaker) address(query GroupQuery) string {
	return withQuery(m.under(""), query.pairs()...)
}

// under returns an address below that of the page.
func (m *groupMaker) under(rest string) string {
	return GroupPath(m.root, m.query.Stream, m.query.Group, rest)
}

func (m *groupMaker) live() string {
	return withQuery(m.root+"/live", append(m.query.pairs(), "page", "group", "stream", m.query.Stream, "group", m.query.Group)...)
}

// shardLink returns the address at which the page shows one shard.
func (m *groupMaker) shardLink(shard int) Link {
	text := strconv.Itoa(shard)
	return Link{Text: text, Address: m.address(GroupQuery{Shard: text, Members: m.query.Members}) + "#shards"}
}

// Link is a text that leads somewhere.
type Link struct{ Text, Address string }

// Stamp is a time: for machines, and for people without scripts. It is empty when it is not
// known.
type Stamp struct{ Machine, Text string }

// stampOf returns the Stamp of a time.
func stampOf(at protocol.Timestamp) Stamp {
	if at.IsZero() {
		return Stamp{}
	}
	return Stamp{at.UTC().Format(time.RFC3339Nano), at.UTC().Format("2006-01-02 15:04:05 UTC")}
}

// short cuts an id that is shown within other text.
func short(id string) string { return cut(id, idShown) }

// cut shortens a text to so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
