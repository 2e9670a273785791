// Package recorder says what a structural change of a group was: the events of the
// flight recorder (protocol, Flight recorder). It is pure. Its callers hand the event to
// the store with the change itself, so that both are written in one atomic step.
//
// An event is bounded, however large the group: what does not fit is counted.
package recorder

import (
	"encoding/json"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Order is what an operator asked for.
type Order struct {
	Action protocol.EventAction
	// Actor is who asked, Reason why, RequestID the request; each may be empty.
	Actor, Reason, RequestID string
}

// Step returns the event of a step of the core that led from prev to out.Next.
func Step(prev *group.Group, out group.Output) protocol.GroupEvent {
	told := tell(out.Changes, out.Beats)
	event := between(prev, out.Next)
	lead := leading(told)
	event.Cause, event.MemberID, event.RequestID = lead.Cause, some(lead.MemberID), some(lead.RequestID)
	event.Changes, event.ChangesLeftOut = cut(told, maxChanges, sizeOfChange)
	return event
}

// Ordered returns the event of an operator's order that led from prev to next: prev is
// nil for a group that is made, next for one that goes, and both for one that goes though
// it cannot be read.
func Ordered(order Order, prev, next *group.Group) protocol.GroupEvent {
	event := between(prev, next)
	event.Cause, event.Action = protocol.EventAdmin, &order.Action
	event.Actor, event.Reason, event.RequestID = some(order.Actor), some(order.Reason), some(order.RequestID)
	return event
}

// By returns the event of a step with the one who asked for it, which leads then: whatever
// else was due in its commit is among the changes. What only an operator can want has the
// cause ADMIN. An order without action is a word about what the event is anyway.
func By(event protocol.GroupEvent, order Order) protocol.GroupEvent {
	event.Actor, event.Reason = some(order.Actor), some(order.Reason)
	if order.RequestID != "" {
		event.RequestID = &order.RequestID
	}
	if order.Action == "" {
		return event
	}
	event.Action = &order.Action
	switch order.Action {
	case protocol.ActionScale:
		event.Cause, event.MemberID = protocol.EventScale, nil
	case protocol.ActionRollback:
		event.Cause, event.MemberID = protocol.EventRollback, nil
	case protocol.ActionBarrier, protocol.ActionUnbar, protocol.ActionFence:
		event.Cause, event.MemberID = protocol.EventAdmin, fenced(event.Changes)
	case protocol.ActionCreate, protocol.ActionDelete, protocol.ActionDiscard, protocol.ActionConfirm:
	}
	return event
}

// fenced returns the member that an operator threw out, nil for none.
func fenced(changes []protocol.EventChange) *string {
	for _, change := range changes {
		if change.Cause == protocol.EventAdmin {
			return some(change.MemberID)
		}
	}
	return nil
}

// Encode returns the event for the store, which adds its id and time.
func Encode(event protocol.GroupEvent) ([]byte, error) {
	data, err := json.Marshal(entry{GroupEvent: event})
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return data, nil
}

// Decode returns a stored event. What cannot be read is an event that says so: the
// others of its page are still of use.
func Decode(data []byte, id string, at int64) protocol.GroupEvent {
	var stored entry
	if err := json.Unmarshal(data, &stored); err != nil || stored.Cause == "" {
		stored.GroupEvent = protocol.GroupEvent{Cause: protocol.EventUnreadable}
	}
	event := stored.GroupEvent
	event.ID, event.At = id, protocol.AtMillis(at)
	if event.Changes == nil {
		event.Changes = []protocol.EventChange{}
	}
	if event.Shards == nil {
		event.Shards = []protocol.ShardChange{}
	}
	return event
}

// entry is an event as it is stored: without the fields that the store knows itself.
type entry struct {
	protocol.GroupEvent

	ID *string             `json:"id,omitempty"`
	At *protocol.Timestamp `json:"at,omitempty"`
}

// between returns an event with the numbers and the shards of a change.
func between(prev, next *group.Group) protocol.GroupEvent {
	var event protocol.GroupEvent
	now := next
	if now == nil {
		now = prev
	}
	if now != nil {
		event.GroupEpoch, event.AssignmentEpoch = now.GroupEpoch, now.AssignmentEpoch
		event.MetadataVersion, event.Lineage, event.ShardCount = now.MetadataVersion, now.Lineage, now.ShardCount
	}
	event.Changes = []protocol.EventChange{}
	event.Shards, event.ShardsLeftOut = cut(Diff(prev, next), maxShards, sizeOfShard)
	return event
}

// some returns nil for what is not known.
func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
