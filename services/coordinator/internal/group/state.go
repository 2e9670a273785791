package group

import (
	"cmp"
	"slices"
)

// Group is the structure of a group: everything but liveness. A Group that Step has
// returned is never changed again; Step copies before it writes.
type Group struct {
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`

	// Lineage names the history that the numbers below belong to, Known the ones
	// before it, oldest first, at most MaxKnown (M1).
	Lineage string   `json:"lineage"`
	Known   []string `json:"known,omitempty"`
	// Identity is the store's identity that the group has seen last (M1).
	Identity string `json:"identity,omitempty"`
	// ClaimedVersion and ClaimedEpoch are the highest claims that were counted as
	// evidence, so that each counts once (M1).
	ClaimedVersion int64 `json:"claimedVersion,omitempty"`
	ClaimedEpoch   int64 `json:"claimedEpoch,omitempty"`

	// GroupEpoch rises when membership or layout changes, AssignmentEpoch is the
	// GroupEpoch that Target was computed for.
	GroupEpoch      int64 `json:"groupEpoch"`
	AssignmentEpoch int64 `json:"assignmentEpoch"`
	// EpochCounter is the last member epoch given out; it never restarts (E1).
	EpochCounter int64 `json:"epochCounter"`
	// MetadataVersion rises by one with every structural commit.
	MetadataVersion int64 `json:"metadataVersion"`

	// LayoutVersion is that of the stream's layout that the group has copied (L1).
	LayoutVersion int64 `json:"layoutVersion,omitempty"`
	// ShardCount is the routing set: shards 0 … ShardCount-1. The Removed ones behind it are
	// still of the reading set, but those in Closed, which is sorted (L3, L5).
	ShardCount int   `json:"shardCount"`
	Removed    int   `json:"removed,omitempty"`
	Closed     []int `json:"closed,omitempty"`
	// Lost are shards that are missing in Redis, sorted; nothing is granted on them (L12).
	Lost []int `json:"lost,omitempty"`
	// Target and Holds have one entry for each shard that is of the reading set, or was
	// and may still be read by somebody.
	Target []string `json:"target"`
	Holds  []Hold   `json:"holds"`
	// Members is sorted by ID.
	Members []Member `json:"members"`

	// BarrierUntil is not 0 while the barrier is up (M3).
	BarrierUntil Millis `json:"barrierUntil,omitempty"`
	// GraceUntil is when members may expire again after nobody served the group (T1).
	GraceUntil Millis `json:"graceUntil,omitempty"`
	// Round is the open correction round (M2), nil without one.
	Round *Round `json:"round,omitempty"`

	CreatedAt Millis `json:"createdAt"`
}

// MaxKnown bounds Group.Known (M1).
const MaxKnown = 64

// Hold says who may be reading a shard (H1). The zero Hold is none.
type Hold struct {
	Member      string `json:"m,omitempty"`
	Incarnation string `json:"i,omitempty"`
	// Told tells that the holder has been told to drop the shard (H3).
	Told bool `json:"t,omitempty"`
	// Lingers, when not 0, is the deadline of a hold whose owner was fenced or
	// suspended: it blocks everybody until then (H4).
	Lingers Millis `json:"l,omitempty"`
}

// Round is a correction round (M2).
type Round struct {
	// OpenedVersion is the metadata version of the commit that opened it: members
	// are synchronised from there on (M4).
	OpenedVersion int64  `json:"openedVersion"`
	OpenedAt      Millis `json:"openedAt"`
}

// MemberState is the state of a member's record.
type MemberState string

// The states. Only ACTIVE and LEAVING members hold shards that do not linger.
const (
	// Active members heartbeat and read.
	Active MemberState = "ACTIVE"
	// Leaving members were told to drop everything (J5).
	Leaving MemberState = "LEAVING"
	// Suspended members keep their target for one lease (J5).
	Suspended MemberState = "SUSPENDED"
	// Waiting records keep their target for a successor that was seen (J4).
	Waiting MemberState = "WAITING"
	// Expired members let their lease run out (H3).
	Expired MemberState = "EXPIRED"
	// Fenced members broke a rule (R1, H3).
	Fenced MemberState = "FENCED"
	// Left members have left (J5).
	Left MemberState = "LEFT"
)

// Member is the record of one logical consumer.
type Member struct {
	ID          string      `json:"id"`
	Name        string      `json:"name,omitempty"`
	Incarnation string      `json:"incarnation,omitempty"`
	State       MemberState `json:"state"`
	// Since is when State began.
	Since Millis `json:"since"`
	// Epoch is the current member epoch, JoinEpoch the one of the last join (E1, E3).
	Epoch     int64 `json:"epoch"`
	JoinEpoch int64 `json:"joinEpoch"`
	// RoundFloor is the JoinEpoch from before the open round: what is below it is of an
	// earlier life, also in the round (E4, M4). 0 outside a round, and for a life that
	// began in it.
	RoundFloor int64 `json:"roundFloor,omitempty"`
	// DropBy is when a told member is fenced (H3); 0 when it is told nothing, and
	// while the barrier stops the time.
	DropBy Millis `json:"dropBy,omitempty"`
	// Cause is the reason of the last fence or expiry, for the answer.
	Cause Cause `json:"cause,omitempty"`
}

// Listening tells whether the member's heartbeats are followed.
func (m Member) Listening() bool { return m.State == Active || m.State == Leaving }

// Eligible tells whether the target may name the member (S1).
func (m Member) Eligible() bool {
	return m.State == Active || m.State == Suspended || m.State == Waiting
}

// floor is the lowest epoch that is of the record's present life (E4, M4).
func (m Member) floor() int64 {
	if m.RoundFloor != 0 {
		return m.RoundFloor
	}
	return m.JoinEpoch
}

// leased tells whether the member's lease still decides about its record.
func (m Member) leased() bool { return m.Listening() || m.State == Suspended }

// Find returns the record of a member.
func (g *Group) Find(id string) (Member, bool) {
	i, found := g.find(id)
	if !found {
		return Member{}, false
	}
	return g.Members[i], true
}

// HasListening tells whether any member is alive.
func (g *Group) HasListening() bool {
	return slices.ContainsFunc(g.Members, Member.Listening)
}

// Holds tells whether h is a hold at all.
func (h Hold) held() bool { return h.Member != "" }

// by tells whether h is a hold that m may act on: its own and not lingering.
func (h Hold) by(m Member) bool {
	return h.Member == m.ID && h.Lingers == 0
}

func (g *Group) find(id string) (int, bool) {
	return slices.BinarySearchFunc(g.Members, id, func(m Member, id string) int { return cmp.Compare(m.ID, id) })
}

// clone returns a copy that may be written.
func (g *Group) clone() *Group {
	next := *g
	next.Known = slices.Clone(g.Known)
	next.Closed, next.Lost = slices.Clone(g.Closed), slices.Clone(g.Lost)
	next.Target = slices.Clone(g.Target)
	next.Holds = slices.Clone(g.Holds)
	next.Members = slices.Clone(g.Members)
	if g.Round != nil {
		round := *g.Round
		next.Round = &round
	}
	return &next
}
