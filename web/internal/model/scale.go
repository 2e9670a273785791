package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Paths of the pages on reshardings, below that of a group.
const (
	scalePath      = "/scale"
	migrationsPath = "/migrations"
)

// Scale is the page that changes how many shards a stream has.
type Scale struct {
	Stream, Group string
	// Address is that of this page, Home that of the group, All that of its reshardings.
	Address, Home, All string
	// Now is how many there are.
	Now string
	// Active is the address of the resharding that is under way; empty for none.
	Active string
	// To is how many there shall be, as it was typed, ToRefusal what is wrong with it.
	To, ToRefusal string
	// Plan is nil as long as no count was asked for.
	Plan    *Plan
	Confirm Confirm
	// Stale tells that the plan is not the one that was confirmed.
	Stale   bool
	Refusal *Refusal
}

// NewScale makes the page of a group, for the count that was typed.
func NewScale(group protocol.GroupResponse, to string, typed Typed, root string) Scale {
	at := func(rest string) string { return GroupPath(root, group.StreamPrefix, group.ConsumerGroup, rest) }
	page := Scale{
		Stream: group.StreamPrefix, Group: group.ConsumerGroup,
		Address: at(scalePath), Home: at(""), All: at(migrationsPath), Now: Count(int64(group.ShardCount)), To: to,
		Confirm: Confirm{
			Address: at(scalePath), Says: "Change the shard count", Asks: "Type the stream's name to confirm",
			Word: group.StreamPrefix, Hidden: [][2]string{{"to", to}}, Typed: typed,
		},
	}
	if group.ActiveMigration != nil {
		page.Active = MigrationPath(root, group.StreamPrefix, group.ConsumerGroup, group.ActiveMigration.ReshardingID)
	}
	if _, is := page.Count(); !is && to != "" {
		page.ToRefusal = "Type a whole number, 0 or more."
	}
	return page
}

// Count returns the count that was typed, and whether it is one.
func (s Scale) Count() (int, bool) {
	text := strings.TrimSpace(s.To)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	count, err := strconv.Atoi(text)
	return count, err == nil
}

// Planned returns the page with the plan for its count, page of which is shown.
func (s Scale) Planned(made protocol.Plan, page int) Scale {
	s.Plan = newPlan(made, page, func(at string) string { return withQuery(s.Address, "to", s.To, "at", at) })
	if s.Plan.Refusal != nil {
		s.Plan.Refusal = s.linked(s.Plan.Refusal)
	}
	return s
}

// Confirmed returns the page with what is wrong with what was typed, and whether nothing is.
// It is stale where the plan is not the one that was confirmed, so that who confirms sees it first.
func (s Scale) Confirmed() (Scale, bool) {
	var good bool
	s.Confirm, good = s.Confirm.Checked()
	if s.Plan == nil || s.Plan.Refusal != nil || s.Plan.Same { // the plan says why nothing is done
		return s, false
	}
	s.Stale = s.Confirm.Typed.Plan != s.Plan.Print
	return s, good && !s.Stale
}

// Refused returns the page with why the change was not made, and with a new key where the old one
// is of no use any more.
func (s Scale) Refused(refusal *Refusal) Scale {
	s.Refusal = s.linked(refusal)
	return s
}

func (s Scale) linked(refusal *Refusal) *Refusal {
	linked := *refusal
	linked.Address, linked.Link = s.All, "The stream's reshardings"
	if s.Active != "" && linked.Code == string(protocol.CodeActiveMigrationExists) {
		linked.Address, linked.Link = s.Active, "The resharding that is under way"
	}
	return &linked
}
