package protocol

// Values of HeartbeatRequest.MemberEpoch with a meaning of their own.
const (
	// EpochJoin asks to join, or to start anew after the state was lost (J1, J3).
	EpochJoin int64 = 0
	// EpochLeave leaves the group for good (J5).
	EpochLeave int64 = -1
	// EpochSuspend leaves for a restart: the target is kept for one lease (J5).
	EpochSuspend int64 = -2
)

// HeartbeatStatus is the verdict of a heartbeat.
type HeartbeatStatus string

// The verdicts. Only StatusOK lets a member start shards (A3).
const (
	StatusOK                  HeartbeatStatus = "OK"
	StatusRetry               HeartbeatStatus = "RETRY"
	StatusSyncMetadata        HeartbeatStatus = "SYNC_METADATA"
	StatusRevokePending       HeartbeatStatus = "REVOKE_PENDING"
	StatusUnknownMemberID     HeartbeatStatus = "UNKNOWN_MEMBER_ID"
	StatusFencedMemberEpoch   HeartbeatStatus = "FENCED_MEMBER_EPOCH"
	StatusUnsupportedProtocol HeartbeatStatus = "UNSUPPORTED_PROTOCOL"
	StatusInvalidRequest      HeartbeatStatus = "INVALID_REQUEST"
)

// Reason explains a verdict other than a plain OK; old clients do not see it.
type Reason string

// The reasons of heartbeat verdicts.
const (
	ReasonMemberIDInUse    Reason = "MEMBER_ID_IN_USE"   // J4: another incarnation holds the id
	ReasonBarrier          Reason = "BARRIER"            // M3: nothing is granted yet
	ReasonNotSynchronised  Reason = "NOT_SYNCHRONISED"   // M4: this member's numbers are of another history
	ReasonRoundOpen        Reason = "CORRECTION_ROUND"   // M4: another member is not there yet
	ReasonBadReport        Reason = "BAD_REPORT"         // R1: reads a shard that it does not hold
	ReasonRebalanceOver    Reason = "REBALANCE_TIMEOUT"  // H3: told to drop and did not in time
	ReasonLeaseExpired     Reason = "LEASE_EXPIRED"      // H3: its lease ran out
	ReasonStaleEpoch       Reason = "STALE_EPOCH"        // E4: an epoch of an earlier life
	ReasonUnknownGroup     Reason = "UNKNOWN_GROUP"      // J1: there is no such group
	ReasonUnknownMember    Reason = "UNKNOWN_MEMBER"     // J1: there is no such member
	ReasonMemberLeft       Reason = "MEMBER_LEFT"        // J6: the member has left
	ReasonGroupFull        Reason = "GROUP_FULL"         // the group has limits.max-members members
	ReasonFutureEpoch      Reason = "FUTURE_EPOCH"       // E4: an epoch never given in this history
	ReasonProtocol         Reason = "PROTOCOL_NOT_KNOWN" // the protocolVersion is not spoken here
	ReasonFencedByOperator Reason = "FENCED_BY_OPERATOR" // H4: an operator threw the member out
)

// HeartbeatRequest is what a member reports. Fields below ShardProgress are additions
// of this suite; a request without Incarnation comes from an old client.
type HeartbeatRequest struct {
	ProtocolVersion         int             `json:"protocolVersion"`
	RequestID               string          `json:"requestId"`
	MemberID                string          `json:"memberId"`
	MemberName              *string         `json:"memberName,omitempty"`
	MemberEpoch             int64           `json:"memberEpoch"`
	MetadataVersion         int64           `json:"metadataVersion"`
	RuntimeConsumerCapacity Capacity        `json:"runtimeConsumerCapacity"`
	OwnedShards             []ShardID       `json:"ownedShards"`
	RevokingShards          []RevokingShard `json:"revokingShards"`
	ShardProgress           []ShardProgress `json:"shardProgress"`

	// Incarnation is a ULID made anew whenever the member starts (E4).
	Incarnation string `json:"incarnation,omitempty"`
	// Sequence rises by one with every request of the incarnation, from 1 (E5).
	Sequence int64 `json:"sequence,omitempty"`
	// Lineage is the history that MemberEpoch and MetadataVersion belong to (M1).
	Lineage string `json:"lineage,omitempty"`
	// WaitMs asks the coordinator to hold the answer back (A5); 0 does not wait.
	WaitMs int64 `json:"waitMs,omitempty"`
}

// Capacity says how many handlers a member may run and how many of them are free.
type Capacity struct {
	RuntimeMaxConcurrency int `json:"runtimeMaxConcurrency"`
	AvailableConcurrency  int `json:"availableConcurrency"`
}

// ShardID names a shard of the stream by its index.
type ShardID struct {
	ShardIndex int `json:"shardIndex"`
}

// RevokingState is how far the release of a shard has come at the member.
type RevokingState string

// The states of a release.
const (
	Revoking RevokingState = "REVOKING" // no new reads are started
	Draining RevokingState = "DRAINING" // handlers still run
	Revoked  RevokingState = "REVOKED"  // nothing runs any more
)

// RevokingShard reports the release of one shard.
type RevokingShard struct {
	Shard    ShardID       `json:"shard"`
	State    RevokingState `json:"state"`
	InFlight int           `json:"inFlight"`
	AckedAt  *Timestamp    `json:"ackedAt,omitempty"`
}

// ShardProgress tells how far a member has come on a shard. It decides nothing.
type ShardProgress struct {
	Shard           ShardID    `json:"shard"`
	StreamKey       string     `json:"streamKey"`
	LastDeliveredID *string    `json:"lastDeliveredId"`
	LastAckedID     *string    `json:"lastAckedId"`
	PendingCount    int64      `json:"pendingCount"`
	UpdatedAt       *Timestamp `json:"updatedAt"`
	// Error is STREAM_MISSING or GROUP_MISSING when the shard cannot be read (L12).
	Error string `json:"error,omitempty"`
}

// Errors that a member reports for a shard in ShardProgress.Error.
const (
	ShardErrorStreamMissing = "STREAM_MISSING"
	ShardErrorGroupMissing  = "GROUP_MISSING"
)

// HeartbeatResponse is the coordinator's decision for one member. Fields below
// Assignment are additions of this suite.
type HeartbeatResponse struct {
	ResponseTo          string          `json:"responseTo"`
	Status              HeartbeatStatus `json:"status"`
	MemberID            string          `json:"memberId"`
	MemberEpoch         int64           `json:"memberEpoch"`
	HeartbeatIntervalMs int64           `json:"heartbeatIntervalMs"`
	RebalanceTimeoutMs  int64           `json:"rebalanceTimeoutMs"`
	GroupEpoch          int64           `json:"groupEpoch"`
	AssignmentEpoch     int64           `json:"assignmentEpoch"`
	MetadataVersion     int64           `json:"metadataVersion"`
	Assignment          Assignment      `json:"assignment"`

	// LeaseMs is how long the member may act, counted from when it sent the request (E5, H5).
	LeaseMs int64 `json:"leaseMs"`
	// Lineage is the history that the numbers of this answer belong to.
	Lineage string `json:"lineage,omitempty"`
	// Reason explains a refusal or a wait.
	Reason Reason `json:"reason,omitempty"`
	// RetryAfterMs is the shortest useful pause before the next try; null when the interval says it.
	RetryAfterMs *int64 `json:"retryAfterMs,omitempty"`
}

// Assignment is what a member may read (A2): AssignedShards are held and wanted,
// PendingShards wanted but still held by another or blocked by the barrier.
type Assignment struct {
	AssignedShards  []ShardID `json:"assignedShards"`
	PendingShards   []ShardID `json:"pendingShards"`
	MetadataVersion int64     `json:"metadataVersion"`
}
