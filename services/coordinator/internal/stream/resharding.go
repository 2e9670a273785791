package stream

import (
	"errors"
	"slices"
)

const (
	// MaxPast bounds the finished reshardings that a record keeps.
	MaxPast = 20
	// MaxMark bounds marks. The store's clock comes nowhere near it.
	MaxMark = 1 << 62
)

// Errors of reshardings.
var (
	// ErrActive comes when another resharding is under way (L1).
	ErrActive = errors.New("a resharding is under way")
	// ErrSame comes when the stream has the count that is asked for.
	ErrSame = errors.New("the stream has that many shards")
	// ErrUnfinished comes when a group is being created or deleted.
	ErrUnfinished = errors.New("a group is being created or deleted")
	// ErrNoResharding comes when the stream knows no resharding of that id.
	ErrNoResharding = errors.New("the stream has no such resharding")
	// ErrOver comes when a resharding is finished or being rolled back already (L8).
	ErrOver = errors.New("the resharding is finished or being rolled back")
	// ErrNotRemoved comes for a shard that is not being removed, or is proven already (L9).
	ErrNotRemoved = errors.New("the shard is not being removed, or is proven empty")
)

// Phase is the state of a resharding.
type Phase string

// The phases (L2, L3, L8). Deprecated and RolledBack are those of finished ones.
const (
	PhasePreparing   Phase = "PREPARING"    // new shards are provisioned; nothing has changed yet
	PhaseActive      Phase = "ACTIVE"       // routing has changed, groups copy the layout
	PhaseDraining    Phase = "DRAINING"     // removed shards are read until they are empty
	PhaseRollingBack Phase = "ROLLING_BACK" // being undone
	PhaseDeprecated  Phase = "DEPRECATED"   // done
	PhaseRolledBack  Phase = "ROLLED_BACK"  // undone
)

// Resharding is one change of the shard count.
type Resharding struct {
	ID    string `json:"id"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Phase Phase  `json:"phase"`
	// Mark numbers its present direction for the markers in Redis (L2).
	Mark int64 `json:"mark"`
	// Turned tells, while it is rolled back, that routing has returned (L8).
	Turned bool `json:"turned,omitempty"`
	// DrainFrom is when routing answers that name removed shards have run out; 0 until
	// every group has copied the layout (L3).
	DrainFrom int64 `json:"drainFrom,omitempty"`
	// Shards are the removed shards by index, also when they are all sealed.
	Shards []Removed `json:"shards,omitempty"`
	// Problem is what stopped the last try to go on (L10).
	Problem string `json:"problem,omitempty"`
	// Order is who asked for it, of the rollback when it is rolled back.
	Order Order `json:"order"`
	// DeprecatedAfter is recorded without effect (wire).
	DeprecatedAfter string `json:"deprecatedAfter,omitempty"`
	CreatedAt       int64  `json:"createdAt"` // milliseconds of the store's clock
	UpdatedAt       int64  `json:"updatedAt"`
}

// Order is who asks for a change, why, and by which request.
type Order struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
	RequestID   string `json:"requestId,omitempty"`
}

// Step is how far a removed shard has come (L3–L6).
type Step string

// The steps of a removed shard.
const (
	StepReading Step = "READING"
	StepClosing Step = "CLOSING"
	StepSealed  Step = "SEALED"
)

// Removed is one removed shard.
type Removed struct {
	Index int  `json:"index"`
	Step  Step `json:"step"`
	// Reason says what kept it from being proven empty when it was last looked at; empty
	// before, and when it is proven.
	Reason string `json:"reason,omitempty"`
	// Since is when the step, or the reason within it, began.
	Since int64 `json:"since,omitempty"`
	// Proof is what its emptiness was proven by, Evidence what Redis said then (L4).
	Proof    string `json:"proof,omitempty"`
	Evidence string `json:"evidence,omitempty"`
	// Confirmed is the operator who vouched for it, nil for none (L9).
	Confirmed *Order `json:"confirmed,omitempty"`
}

// Finished tells whether the resharding is over.
func (r Resharding) Finished() bool {
	return r.Phase == PhaseDeprecated || r.Phase == PhaseRolledBack
}

// MayRollBack tells whether a rollback would be taken (L8).
func (r Resharding) MayRollBack() bool {
	return r.Phase == PhasePreparing || r.Phase == PhaseActive || r.Phase == PhaseDraining
}

// Added returns the shards that the resharding adds, as a range from ≤ index < to.
func (r Resharding) Added() (from, to int) { return r.From, max(r.From, r.To) }

// Cut returns the shards that the resharding takes away, as a range from ≤ index < to.
func (r Resharding) Cut() (from, to int) { return r.To, max(r.From, r.To) }

// At returns the removed shards that are at a step.
func (r Resharding) At(step Step) []int {
	var indexes []int
	for _, shard := range r.Shards {
		if shard.Step == step {
			indexes = append(indexes, shard.Index)
		}
	}
	return indexes
}

// Shard returns a removed shard.
func (r Resharding) Shard(index int) (Removed, bool) {
	i := slices.IndexFunc(r.Shards, func(shard Removed) bool { return shard.Index == index })
	if i < 0 {
		return Removed{}, false
	}
	return r.Shards[i], true
}

// FindResharding returns the resharding of that id, active or past.
func (s Stream) FindResharding(id string) (Resharding, error) {
	if s.Resharding != nil && s.Resharding.ID == id {
		return *s.Resharding, nil
	}
	for _, r := range s.Past {
		if r.ID == id {
			return r, nil
		}
	}
	return Resharding{}, ErrNoResharding
}
