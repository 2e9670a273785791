package protocol

// PlanAction says what a plan is of.
type PlanAction string

// The mutations that can be asked for as a plan (L11).
const (
	PlanCreate   PlanAction = "CREATE"
	PlanScale    PlanAction = "SCALE"
	PlanRollback PlanAction = "ROLLBACK"
	PlanDelete   PlanAction = "DELETE"
)

// Plan is what a mutation with dryRun=true would do; nothing is changed (L11). It holds
// for the state at the time of asking.
type Plan struct {
	Action       PlanAction `json:"action"`
	StreamPrefix string     `json:"streamPrefix"`
	// FromShardCount and ToShardCount are the counts that producers see before and after;
	// 0 for a stream that does not exist before or after.
	FromShardCount int `json:"fromShardCount"`
	ToShardCount   int `json:"toShardCount"`
	// ShardsAdded and ShardsRemoved list indexes, sorted.
	ShardsAdded   []int `json:"shardsAdded"`
	ShardsRemoved []int `json:"shardsRemoved"`
	// Groups are the consumer groups affected, sorted by name.
	Groups []GroupPlan `json:"groups"`
	// Refusal is what the mutation would be refused with; null when it would be taken.
	Refusal *PlanRefusal `json:"refusal"`
	// Warnings are sentences for the operator.
	Warnings []string `json:"warnings"`
}

// GroupPlan is what becomes of one group.
type GroupPlan struct {
	ConsumerGroup string `json:"consumerGroup"`
	// Moves are the members whose shards change, sorted by id.
	Moves []MemberMove `json:"moves"`
}

// MemberMove is what one member gets and gives up. Shards are indexes, sorted. Removed
// shards are given up when they are proven empty, the others at once.
type MemberMove struct {
	MemberID string `json:"memberId"`
	Gains    []int  `json:"gains"`
	Loses    []int  `json:"loses"`
}

// PlanRefusal is the refusal that a mutation would get.
type PlanRefusal struct {
	ErrorCode Code   `json:"errorCode"`
	Message   string `json:"message"`
}
