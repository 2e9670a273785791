package protocol

// Bounds of one page of a group's flight recorder.
const (
	DefaultEvents = 100
	MaxEvents     = 1000
)

// EventCause says why the structure of a group changed. Readers pass over causes that
// they do not know.
type EventCause string

// The causes of the flight recorder (protocol, Flight recorder), then those of what
// follows from them or from time alone.
const (
	EventJoin         EventCause = "JOIN"          // a member joined (J1–J3)
	EventTakeover     EventCause = "TAKEOVER"      // another process took a member id over (J4)
	EventLeave        EventCause = "LEAVE"         // a member left (J5)
	EventSuspend      EventCause = "SUSPEND"       // a member goes to come back soon (J5)
	EventExpire       EventCause = "EXPIRE"        // a lease ran out (H3b)
	EventFenceReport  EventCause = "FENCE_REPORT"  // a member reported a shard it does not hold (R1)
	EventFenceTimeout EventCause = "FENCE_TIMEOUT" // a member did not release in time (H3c)
	EventScale        EventCause = "SCALE"         // the shard count changes (L2, L3)
	EventRollback     EventCause = "ROLLBACK"      // a resharding is undone (L8)
	EventSeal         EventCause = "SEAL"          // removed shards are sealed (L5)
	EventReprovision  EventCause = "REPROVISION"   // a lost shard was made anew (L12)
	EventCorrection   EventCause = "CORRECTION"    // evidence of lost writes opened a round (M2)
	EventAdmin        EventCause = "ADMIN"         // an operator did it; see GroupEvent.Action

	EventRelease     EventCause = "RELEASE"      // holds ended (R2)
	EventTold        EventCause = "TOLD"         // holders are to drop shards (H2)
	EventHandBack    EventCause = "HAND_BACK"    // holders may keep what they were to drop
	EventGrant       EventCause = "GRANT"        // holds began (H1)
	EventLingerOver  EventCause = "LINGER_OVER"  // lingering holds ended (H4)
	EventBarrierOver EventCause = "BARRIER_OVER" // grants are possible again (M3)
	EventRoundOver   EventCause = "ROUND_OVER"   // a correction round ended (M5)
	EventGrace       EventCause = "GRACE"        // nobody served the group, expiry is put off (T1)
	EventForget      EventCause = "FORGET"       // a record went after its retention (J6)
	EventIdentity    EventCause = "IDENTITY"     // the store's identity is another one (M1)
	EventOther       EventCause = "OTHER"        // bookkeeping that has no name of its own
	EventUnreadable  EventCause = "UNREADABLE"   // the entry is there and cannot be read
)

// EventAction says what an operator did.
type EventAction string

// The actions of operators. CREATE, DELETE, DISCARD and the repairs have the cause ADMIN.
const (
	ActionCreate   EventAction = "CREATE"
	ActionDelete   EventAction = "DELETE"
	ActionDiscard  EventAction = "DISCARD" // metadata that cannot be read made way for a creation (M6)
	ActionScale    EventAction = "SCALE"
	ActionRollback EventAction = "ROLLBACK"
	ActionConfirm  EventAction = "CONFIRM_DRAIN" // an operator vouched for a shard without lag (L9)
	ActionBarrier  EventAction = "BARRIER"       // a correction round was asked for (M3)
	ActionUnbar    EventAction = "CLOSE_BARRIER"
	ActionFence    EventAction = "FENCE"
)

// EventsResponse is a page of a group's flight recorder, oldest first.
type EventsResponse struct {
	Events []GroupEvent `json:"events"`
	// Next is the cursor of the page that follows; null when there is nothing more yet.
	// The id of the last event is the cursor of what will come.
	Next *string `json:"next"`
}

// GroupEvent is one structural change of a group, recorded in the same atomic step. The
// numbers are those after the change. MetadataVersion rises by one from event to event
// of a lineage, so that a gap shows what was cut from the history.
type GroupEvent struct {
	// ID is the event's place in the history, a cursor.
	ID string `json:"id"`
	// At is the store's clock at the change.
	At Timestamp `json:"at"`
	// Cause is what led to the change, MemberID whom it is about and RequestID the request
	// that brought it, null where none did: then it was time.
	Cause     EventCause `json:"cause"`
	MemberID  *string    `json:"memberId"`
	RequestID *string    `json:"requestId"`
	// Action, Actor and Reason are an operator's; null in all other events.
	Action *EventAction `json:"action"`
	Actor  *string      `json:"actor"`
	Reason *string      `json:"reason"`

	GroupEpoch      int64  `json:"groupEpoch"`
	AssignmentEpoch int64  `json:"assignmentEpoch"`
	MetadataVersion int64  `json:"metadataVersion"`
	Lineage         string `json:"lineage"`
	ShardCount      int    `json:"shardCount"`

	// Changes tells everything that happened in the one commit, in order.
	Changes []EventChange `json:"changes"`
	// ChangesLeftOut is how many more of them there were than an event may hold.
	ChangesLeftOut int `json:"changesLeftOut"`
	// Shards tells target and hold of each shard that changed, by index.
	Shards []ShardChange `json:"shards"`
	// ShardsLeftOut is how many more of them there were than an event may hold.
	ShardsLeftOut int `json:"shardsLeftOut"`
}

// EventChange is one thing that happened in a commit.
type EventChange struct {
	Cause EventCause `json:"cause"`
	// MemberID and RequestID are absent where there is none.
	MemberID  string `json:"memberId,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	// Shards is how many shards it happened to, for what happens to shards.
	Shards int `json:"shards,omitempty"`
}

// ShardChange is how one shard changed. What did not change is absent.
type ShardChange struct {
	Shard  int           `json:"shard"`
	Target *TargetChange `json:"target,omitempty"`
	Hold   *HoldChange   `json:"hold,omitempty"`
}

// TargetChange tells who should read a shard; null is nobody.
type TargetChange struct {
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// HoldChange tells who may be reading a shard; null is nobody.
type HoldChange struct {
	Before *HoldState `json:"before"`
	After  *HoldState `json:"after"`
}

// HoldState is a hold.
type HoldState struct {
	MemberID    string `json:"memberId"`
	Incarnation string `json:"incarnation,omitempty"`
	// Told tells that the holder is to drop the shard (H3).
	Told bool `json:"told,omitempty"`
	// LingersUntil is set for a hold that blocks everybody until then (H4).
	LingersUntil *Timestamp `json:"lingersUntil,omitempty"`
}
