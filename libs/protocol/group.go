package protocol

// GroupState is the state of a group as monitoring shows it.
type GroupState string

// The states of a group (wire contract, Meaning of states).
const (
	GroupEmpty       GroupState = "EMPTY"       // no live member
	GroupAssigning   GroupState = "ASSIGNING"   // live members, nothing held
	GroupReconciling GroupState = "RECONCILING" // on the way
	GroupStable      GroupState = "STABLE"      // reported = held = target (I15)
)

// MemberState is the state of a member as monitoring shows it.
type MemberState string

// The states of a member that old dashboards know.
const (
	MemberStarting MemberState = "STARTING"
	MemberActive   MemberState = "ACTIVE"
	MemberLeaving  MemberState = "LEAVING"
	MemberExpired  MemberState = "EXPIRED"
	MemberFenced   MemberState = "FENCED"
)

// GroupResponse is a group at a glance. The summaries count shards per member.
type GroupResponse struct {
	StreamPrefix             string         `json:"streamPrefix"`
	ConsumerGroup            string         `json:"consumerGroup"`
	State                    GroupState     `json:"state"`
	GroupEpoch               int64          `json:"groupEpoch"`
	AssignmentEpoch          int64          `json:"assignmentEpoch"`
	MetadataVersion          int64          `json:"metadataVersion"`
	ShardCount               int            `json:"shardCount"`
	ActiveMigration          *Migration     `json:"activeMigration"`
	TargetAssignmentSummary  map[string]int `json:"targetAssignmentSummary"`
	CurrentAssignmentSummary map[string]int `json:"currentAssignmentSummary"`

	// Lineage is the history that the numbers belong to.
	Lineage string `json:"lineage"`
	// UnassignedShards lists by index the shards of the reading set without a live owner in
	// the target. Removed shards that are proven empty need none (L5).
	UnassignedShards []int `json:"unassignedShards"`
	// LostShards lists by index the shards of the reading set that are missing in Redis:
	// nobody is given them until they are made again (L12).
	LostShards []int `json:"lostShards"`
	// SurplusMembers are live but own nothing, as there are more members than shards (S2).
	SurplusMembers []string `json:"surplusMembers"`
	// BarrierUntil is the end of the grant barrier (M3); null when there is none.
	BarrierUntil *Timestamp `json:"barrierUntil"`
}

// GroupsResponse lists groups.
type GroupsResponse struct {
	Groups []GroupResponse `json:"groups"`
}

// MemberMetadata is one member of a group.
type MemberMetadata struct {
	MemberID              string          `json:"memberId"`
	MemberName            string          `json:"memberName"`
	State                 MemberState     `json:"state"`
	MemberEpoch           int64           `json:"memberEpoch"`
	MetadataVersion       int64           `json:"metadataVersion"`
	RuntimeMaxConcurrency int             `json:"runtimeMaxConcurrency"`
	ActiveConsumerWorkers int             `json:"activeConsumerWorkers"`
	CurrentAssignment     []ShardID       `json:"currentAssignment"`
	GrantedAssignment     []ShardID       `json:"grantedAssignment"`
	Revoking              []ShardID       `json:"revoking"`
	LastHeartbeatAt       Timestamp       `json:"lastHeartbeatAt"`
	MemberLeaseExpiresAt  Timestamp       `json:"memberLeaseExpiresAt"`
	RebalanceTimeoutMs    int64           `json:"rebalanceTimeoutMs"`
	RebalanceDeadlineAt   *Timestamp      `json:"rebalanceDeadlineAt"`
	ShardProgress         []ShardProgress `json:"shardProgress"`

	// StateDetail tells what State folds together, for example SUSPENDED or WAITING.
	StateDetail string `json:"stateDetail"`
	// Incarnation is empty for an old client, which has no local lease (H6).
	Incarnation string `json:"incarnation"`
	// Successor is another process that asks for the same member id (J4); null if there is none.
	Successor *string `json:"successor"`
}

// MembersResponse lists the members of a group.
type MembersResponse struct {
	Members []MemberMetadata `json:"members"`
}

// AssignmentsResponse shows who should read, who may be reading, and what is being
// given back. Keys are member ids.
type AssignmentsResponse struct {
	TargetAssignment    map[string][]ShardID `json:"targetAssignment"`
	CurrentAssignments  map[string][]ShardID `json:"currentAssignments"`
	RevokeProgress      map[string][]ShardID `json:"revokeProgress"`
	InvariantViolations []string             `json:"invariantViolations"`
}
