package protocol

// MigrationState is the state of a resharding.
type MigrationState string

// The states of a resharding (L2, L3, L8).
const (
	MigrationPreparing   MigrationState = "PREPARING"    // shard keys are being made
	MigrationActive      MigrationState = "ACTIVE"       // groups copy the layout; old routing answers run out
	MigrationDraining    MigrationState = "DRAINING"     // removed shards are read until they are empty
	MigrationDeprecated  MigrationState = "DEPRECATED"   // done
	MigrationRollingBack MigrationState = "ROLLING_BACK" // being undone
	MigrationRolledBack  MigrationState = "ROLLED_BACK"  // undone
)

// NoopReshardingID is the id of a resharding that changes nothing: the stream has the
// count that was asked for.
const NoopReshardingID = "noop"

// ScaleRequest changes the shard count of a stream.
type ScaleRequest struct {
	// TargetShardCount is 0 … limits.max-shards. Nil is refused.
	TargetShardCount *int   `json:"targetShardCount"`
	RequestedBy      string `json:"requestedBy"`
	Reason           string `json:"reason"`
	// DeprecatedAfter is taken and recorded, without effect.
	DeprecatedAfter *string `json:"deprecatedAfter,omitempty"`
}

// StreamScaleResponse answers a scale: one migration, the same for all groups.
type StreamScaleResponse struct {
	StreamPrefix           string      `json:"streamPrefix"`
	TargetShardCount       int         `json:"targetShardCount"`
	AffectedConsumerGroups []string    `json:"affectedConsumerGroups"`
	Migrations             []Migration `json:"migrations"`
}

// RollbackRequest asks for a resharding to be undone (L8).
type RollbackRequest struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
}

// ConfirmDrainRequest takes an operator's word that a shard is empty whose lag cannot
// be trusted (L9). The index must be one that is being removed.
type ConfirmDrainRequest struct {
	ShardIndex  *int   `json:"shardIndex"` // nil is refused
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
}

// Migration is one change of a stream's shard count.
type Migration struct {
	ReshardingID   string         `json:"reshardingId"`
	FromShardCount int            `json:"fromShardCount"`
	ToShardCount   int            `json:"toShardCount"`
	State          MigrationState `json:"state"`
	CreatedAt      Timestamp      `json:"createdAt"`
	UpdatedAt      Timestamp      `json:"updatedAt"`

	// RequestedBy and Reason are those of the request; null where it is not known.
	RequestedBy *string `json:"requestedBy"`
	Reason      *string `json:"reason"`
	// RollbackAllowed tells that a rollback would be taken now (L8).
	RollbackAllowed bool `json:"rollbackAllowed"`
	// Progress is given when one resharding is asked for, and null in lists.
	Progress *MigrationProgress `json:"progress"`
}

// MigrationsResponse lists the reshardings of a group's stream, the newest first.
type MigrationsResponse struct {
	Migrations         []Migration `json:"migrations"`
	ActiveReshardingID *string     `json:"activeReshardingId"`
}

// MigrationProgress is how far a resharding has come (L10).
type MigrationProgress struct {
	// Done of Total shards are as the resharding wants them: provisioned when shards are
	// added, sealed when they are removed, unsealed when that is undone.
	Done  int `json:"done"`
	Total int `json:"total"`
	// ProvisionedKeys of TotalKeys shard keys carry all groups; both 0 when no shard is added.
	ProvisionedKeys int `json:"provisionedKeys"`
	TotalKeys       int `json:"totalKeys"`
	// LastError is what stopped the last try to go on; null when nothing did. The work is
	// tried again by itself.
	LastError *string `json:"lastError"`
	// DrainingFrom is when the last routing answer that names removed shards has run out;
	// null before every group has copied the layout, and when no shard is removed.
	DrainingFrom *Timestamp `json:"drainingFrom"`
	// Groups tells for each group of the stream whether it is waited for.
	Groups []GroupProgress `json:"groups"`
	// Shards tells for each removed shard what keeps it, by index.
	Shards []ShardDrain `json:"shards"`
}

// GroupProgress is how far one group has come with a resharding.
type GroupProgress struct {
	ConsumerGroup string `json:"consumerGroup"`
	// Copied tells that the group works on the stream's present layout.
	Copied bool `json:"copied"`
	// Settled tells that every shard to be read is read by its owner and none is being
	// handed over; also true without members.
	Settled bool `json:"settled"`
}

// DrainPhase is how far a removed shard has come.
type DrainPhase string

// The phases of a removed shard (L3–L6).
const (
	DrainReading DrainPhase = "READING" // read until it is proven empty
	DrainClosing DrainPhase = "CLOSING" // proven empty; owners are told to drop it
	DrainSealed  DrainPhase = "SEALED"  // renamed away, nothing can be added any more
)

// DrainReason says why a removed shard is not sealed yet.
type DrainReason string

// The reasons (L4), in the order in which they are looked for.
const (
	DrainStreamMissing  DrainReason = "STREAM_MISSING"       // the shard key is gone or is no stream (L12)
	DrainGroupMissing   DrainReason = "GROUP_MISSING"        // a group of the stream is gone on it (L12)
	DrainUnread         DrainReason = "UNREAD"               // an entry was not delivered to some group
	DrainPending        DrainReason = "PENDING"              // an entry was delivered and not acknowledged
	DrainLagUnknown     DrainReason = "LAG_UNKNOWN"          // Redis cannot tell the lag
	DrainLagContradicts DrainReason = "LAG_CONTRADICTS_TAIL" // a lag above 0 with nothing behind the cursor
	DrainStillOwned     DrainReason = "STILL_OWNED"          // proven empty, a member may still be reading
)

// DrainProof says what the proof that a shard was empty rests on.
type DrainProof string

// The kinds of proof (L4, L9).
const (
	ProofLag       DrainProof = "LAG"       // pending 0, lag known and 0, empty tail
	ProofTail      DrainProof = "TAIL"      // pending 0 and empty tail; coordination.drain.accept-tail-proof
	ProofConfirmed DrainProof = "CONFIRMED" // as TAIL, on an operator's word
)

// ShardDrain is one removed shard.
type ShardDrain struct {
	ShardIndex int        `json:"shardIndex"`
	StreamKey  string     `json:"streamKey"`
	Phase      DrainPhase `json:"phase"`
	// Reason and Since say what keeps the shard, and from when on; null when it is sealed
	// or was not looked at yet.
	Reason *DrainReason `json:"reason"`
	Since  *Timestamp   `json:"since"`
	// Owners are the members that may be reading it, one for each group that has one.
	Owners []ShardOwner `json:"owners"`
	// Pending and Lag are summed over the Redis groups; null when unknown.
	Pending *int64 `json:"pending"`
	Lag     *int64 `json:"lag"`
	// TailID is the first entry that BlockingGroup was not given; null when there is none.
	TailID *string `json:"tailId"`
	// BlockingGroup is the Redis group that Reason is about, BlockingConsumer its consumer
	// with the most pending entries; null where there is none.
	BlockingGroup    *string `json:"blockingGroup"`
	BlockingConsumer *string `json:"blockingConsumer"`
	// Proof is what the emptiness was proven by; null before that.
	Proof *DrainProof `json:"proof"`
	// RetiredKey is where the sealed shard's entries are kept; null when they are not.
	RetiredKey *string `json:"retiredKey"`
}

// ShardOwner is who may be reading a shard for one group.
type ShardOwner struct {
	ConsumerGroup string `json:"consumerGroup"`
	MemberID      string `json:"memberId"`
}
