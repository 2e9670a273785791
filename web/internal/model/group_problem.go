package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// linksShown is how many shards, or members, a problem names.
	linksShown = 20
	// detailShown is how many bytes of a detail are shown.
	detailShown = 300
)

// Problem is one thing that somebody should look at.
type Problem struct {
	Tone, Title string
	// Text says what it means, Advice what can be done; both may be empty.
	Text, Advice string
	// Since is when it began, Until when it is over at the latest; empty where nobody knows.
	Since, Until Stamp
	// Shards and Members are those it is about, at most linksShown; More is how many others.
	Shards  []Link
	Members []string
	More    int
	// Details are the words of whoever found it.
	Details []string
}

// finder collects problems, those of one kind in one place.
type finder struct {
	*groupMaker

	found []*Problem
	kinds map[string]*Problem
}

// problems lists what is wrong, worst first.
func (m *groupMaker) problems() []Problem {
	f := &finder{groupMaker: m, kinds: map[string]*Problem{}}
	f.structure()
	for _, row := range m.scene.Rows {
		f.shard(row)
	}
	for i := range m.details.Members {
		f.member(&m.details.Members[i])
	}
	for _, member := range m.group.SurplusMembers {
		f.aboutMember(problemSurplus, member)
	}
	f.others()
	slices.SortStableFunc(f.found, func(a, b *Problem) int { return cmp.Compare(urgency(a.Tone), urgency(b.Tone)) })
	problems := make([]Problem, 0, len(f.found))
	for _, each := range f.found {
		problems = append(problems, *each)
	}
	return problems
}

// about returns the problem of a kind.
func (f *finder) about(kind string) *Problem {
	words := KindOfProblem(kind)
	key := words.Title + words.Text
	if f.kinds[key] == nil {
		f.kinds[key] = &Problem{Tone: words.Tone, Title: words.Title, Text: words.Text, Advice: words.Advice}
		f.found = append(f.found, f.kinds[key])
	}
	return f.kinds[key]
}

func (f *finder) aboutShard(kind string, shard int, detail string) {
	problem := f.about(kind)
	if len(problem.Shards) < linksShown {
		problem.Shards = append(problem.Shards, f.shardLink(shard))
	} else {
		problem.More++
	}
	problem.say(detail)
}

func (f *finder) aboutMember(kind, member string) *Problem {
	problem := f.about(kind)
	if len(problem.Members) < linksShown {
		problem.Members = append(problem.Members, short(member))
	} else {
		problem.More++
	}
	return problem
}

// say adds what was said of it, once and a few times only.
func (p *Problem) say(detail string) {
	detail = cut(detail, detailShown)
	if detail != "" && len(p.Details) < 5 && !slices.Contains(p.Details, detail) {
		p.Details = append(p.Details, detail)
	}
}

func (f *finder) structure() {
	if f.scene.Problem != "" {
		f.about(protocol.ProblemStructure).say(f.scene.Problem)
	}
	if f.details.Assignments != nil {
		for _, violation := range f.details.Assignments.InvariantViolations {
			f.about(protocol.ProblemInvariant).say(violation)
		}
	}
	for _, shard := range f.group.LostShards {
		f.aboutShard(protocol.ProblemLost, shard, "")
	}
	if f.group.BarrierUntil != nil {
		barrier := f.about(problemBarrier)
		barrier.Since, barrier.Until = f.last(protocol.EventCorrection), stampOf(*f.group.BarrierUntil)
	}
	if f.row.State == protocol.GroupEmpty {
		f.about(problemNoMember).Since = f.last(
			protocol.EventLeave, protocol.EventExpire, protocol.EventSuspend, protocol.EventFenceReport, protocol.EventFenceTimeout)
		for _, shard := range f.group.UnassignedShards {
			f.aboutShard(problemNoMember, shard, "")
		}
		return
	}
	for _, shard := range f.group.UnassignedShards {
		f.aboutShard(protocol.ProblemUnassigned, shard, "")
	}
}

// last is when something of the kind happened last, as far as the history tells.
func (f *finder) last(causes ...protocol.EventCause) Stamp {
	for _, event := range slices.Backward(f.details.Events) {
		if slices.Contains(causes, event.Cause) || slices.ContainsFunc(event.Changes, func(change protocol.EventChange) bool {
			return slices.Contains(causes, change.Cause)
		}) {
			return stampOf(event.At)
		}
	}
	return Stamp{}
}

func (f *finder) shard(row protocol.GrafanaShardRow) {
	detail := ""
	if row.ProblemDetail != nil {
		detail = *row.ProblemDetail
	}
	switch {
	case row.Problem != nil:
		f.aboutShard(*row.Problem, row.ShardIndex, detail)
	case !row.LagKnown && row.LagReason != nil:
		f.aboutShard(string(*row.LagReason), row.ShardIndex, detail)
	}
	if row.TrimmedUnreadAlarm {
		lost := ""
		if row.TrimmedUnread != nil {
			lost = plural(int(*row.TrimmedUnread), "record", "lost on shard "+row.ShardLabel)
		}
		f.aboutShard(protocol.ProblemTrimmedUnread, row.ShardIndex, lost)
	}
	if row.GroupRegressed {
		f.aboutShard(protocol.ProblemRegressed, row.ShardIndex, "")
	}
	if row.CurrentOwnerMemberIDs == "" && row.TargetOwnerMemberIDs != "" && f.row.State != protocol.GroupEmpty {
		f.aboutShard(problemUnread, row.ShardIndex, "")
		problem := f.about(problemUnread)
		problem.Since = earlier(problem.Since, stampOf(f.changed[row.ShardIndex]))
	}
}

// earlier returns the earlier one of two times that may not be known.
func earlier(a, b Stamp) Stamp {
	if a.Machine == "" || b.Machine != "" && b.Text < a.Text {
		return b
	}
	return a
}

func (f *finder) member(member *protocol.MemberMetadata) {
	holds := len(member.CurrentAssignment) > 0
	switch member.State {
	case protocol.MemberFenced:
		if problem := f.aboutMember(problemFenced, member.MemberID); problem.Since.Machine == "" {
			problem.Since = f.last(protocol.EventFenceReport, protocol.EventFenceTimeout)
		}
	case protocol.MemberExpired:
		if holds || member.StateDetail == detailExpired {
			problem := f.aboutMember(problemExpired, member.MemberID)
			problem.Since = earlier(problem.Since, stampOf(member.MemberLeaseExpiresAt))
		}
	case protocol.MemberActive, protocol.MemberStarting, protocol.MemberLeaving:
		if len(member.Revoking) > 0 {
			problem := f.aboutMember(problemOverdue, member.MemberID)
			if member.RebalanceDeadlineAt != nil {
				problem.Until = earlier(problem.Until, stampOf(*member.RebalanceDeadlineAt))
			}
		}
	default:
	}
	if member.Successor != nil {
		f.aboutMember(problemTwins, member.MemberID).say(
			short(member.MemberID) + ": " + processName(member.Incarnation) + " has it, " + processName(*member.Successor) + " asks for it")
	}
}

// processName is how a process is called whose incarnation may not be known.
func processName(incarnation string) string {
	if incarnation == "" {
		return "an old client"
	}
	return "process " + short(incarnation)
}

// others are those that only the monitor knows.
func (f *finder) others() {
	for _, each := range f.details.Problems {
		if f.finds(each.Problem) {
			continue
		}
		if each.ShardIndex != nil {
			f.aboutShard(each.Problem, *each.ShardIndex, each.Detail)
		} else {
			f.about(each.Problem).say(each.Detail)
		}
	}
}

// finds tells whether a kind of problem is found from what the events tell.
func (f *finder) finds(kind string) bool {
	if _, is := observed(kind); is {
		return true
	}
	if _, is := ofLag(protocol.LagReason(kind)); is {
		return true
	}
	return kind == protocol.ProblemStructure || kind == protocol.ProblemUnassigned || strings.TrimSpace(kind) == ""
}
