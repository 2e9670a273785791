package model

import (
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Rollback is the page that undoes a resharding (L8).
type Rollback struct {
	Stream, Group, ID string
	// Address is that of this page, Back that of the resharding.
	Address, Back string
	// Plan is nil for who may not change anything.
	Plan    *Plan
	Confirm Confirm
	Stale   bool
	Refusal *Refusal
}

// NewRollback makes the page.
func NewRollback(stream, group, id string, typed Typed, root string) Rollback {
	back := MigrationPath(root, stream, group, id)
	return Rollback{
		Stream: stream, Group: group, ID: id, Address: back + "/rollback", Back: back,
		Confirm: Confirm{
			Address: back + "/rollback", Says: "Roll the resharding back", Asks: "Type the stream's name to confirm", Word: stream, Typed: typed,
		},
	}
}

// Planned returns the page with what a rollback would do, page of which is shown.
func (b Rollback) Planned(made protocol.Plan, page int) Rollback {
	b.Plan = newPlan(made, page, func(at string) string { return withQuery(b.Address, "at", at) })
	b.Plan.Same = false // a rollback of a preparing resharding leaves the count, and is one
	if b.Plan.Refusal != nil {
		b.Plan.Refusal = b.linked(b.Plan.Refusal)
	}
	return b
}

// Confirmed returns the page with what is wrong with what was typed, and whether nothing is.
func (b Rollback) Confirmed() (Rollback, bool) {
	var good bool
	b.Confirm, good = b.Confirm.Checked()
	if b.Plan == nil || b.Plan.Refusal != nil { // the plan says why nothing is done
		return b, false
	}
	b.Stale = b.Confirm.Typed.Plan != b.Plan.Print
	return b, good && !b.Stale
}

// Refused returns the page with why it was not rolled back.
func (b Rollback) Refused(refusal *Refusal) Rollback {
	b.Refusal = b.linked(refusal)
	return b
}

func (b Rollback) linked(refusal *Refusal) *Refusal {
	linked := *refusal
	linked.Address, linked.Link = b.Back, "The resharding"
	return &linked
}

// ConfirmDrain is the page on which an operator vouches for a removed shard (L9).
type ConfirmDrain struct {
	Stream, Group, ID string
	Back              string
	// Drain is the shard with the index Shard as it is now; Found tells that the resharding removes it, and May that
	// nothing but its lag speaks against it.
	Shard      int
	Drain      DrainLine
	Found, May bool
	Confirm    Confirm
	Refusal    *Refusal
}

// NewConfirmDrain makes the page for the shard whose index was asked for.
func NewConfirmDrain(of protocol.Migration, query MigrationQuery, shard string, typed Typed, root string) ConfirmDrain {
	back := MigrationPath(root, query.Stream, query.Group, of.ReshardingID)
	page := ConfirmDrain{
		Stream: query.Stream, Group: query.Group, ID: of.ReshardingID, Back: back,
		Confirm: Confirm{
			Address: back + "/confirm-drain", Says: "I vouch that the shard is empty", Asks: "Type the shard's index to confirm",
			Word: shard, Hidden: [][2]string{{"shard", shard}}, Typed: typed,
		},
	}
	if of.Progress == nil {
		return page
	}
	for _, drain := range of.Progress.Shards {
		if strconv.Itoa(drain.ShardIndex) == strings.TrimSpace(shard) {
			page.Shard, page.Drain = drain.ShardIndex, drainLine(drain, query.Group, nil, back)
			page.Found, page.May = true, confirmable(drain)
		}
	}
	return page
}

// Refused returns the page with why the operator's word was not taken.
func (d ConfirmDrain) Refused(refusal *Refusal) ConfirmDrain {
	linked := *refusal
	linked.Address, linked.Link = d.Back, "The resharding"
	d.Refusal = &linked
	return d
}

// MigrationDone says what a form has done, by the key that it left in the page's address; empty
// for a key that is none.
func MigrationDone(key string) string {
	return map[string]string{
		"scaled":     "The shard count is being changed. This page shows how far it has come.",
		"noop":       "The stream has that many shards already: nothing was changed.",
		"same":       "This change is under way already: it was begun with the same form.",
		"rolledback": "The resharding is being undone. This page shows how far it has come.",
		"confirmed":  "Your word was taken: the shard is sealed as soon as its owner has let go of it.",
	}[key]
}

// WithDone returns the address of a page with the key of what was done.
func WithDone(address, key string) string { return withQuery(address, "done", key) }
