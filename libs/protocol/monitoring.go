package protocol

// LagReason says why the lag that Redis tells of a group on a shard is not shown (monitoring,
// Rates; F01 to F05).
type LagReason string

// The reasons.
const (
	// LagNotObserved is a shard or a group on it that could not be read.
	LagNotObserved LagReason = "NOT_OBSERVED"
	// LagUnknown is a lag that Redis does not tell.
	LagUnknown LagReason = "LAG_UNKNOWN"
	// LagNegative is a lag below 0, from a position that was given by hand.
	LagNegative LagReason = "LAG_NEGATIVE"
	// LagContradictsTail is a lag above 0 with nothing behind the cursor, or another one
	// than the count of what is behind it.
	LagContradictsTail LagReason = "LAG_CONTRADICTS_TAIL"
	// LagAboveLength is a lag of more entries than the stream has.
	LagAboveLength LagReason = "LAG_ABOVE_LENGTH"
	// LagBelowTail is a lag of 0, or of less than the whole stream, although an entry, or
	// the whole stream, is unread.
	LagBelowTail LagReason = "LAG_BELOW_TAIL"
	// LagDeleted is a lag that counts entries which were deleted unread.
	LagDeleted LagReason = "LAG_COUNTS_DELETED"
)

// OwnerState says how far the hand-off of a shard has come (wire contract, Meaning of states).
type OwnerState string

// The states.
const (
	OwnerUnassigned    OwnerState = "UNASSIGNED"    // nobody holds it and nobody is wanted to
	OwnerPendingAck    OwnerState = "PENDING_ACK"   // held, not reported
	OwnerCurrent       OwnerState = "CURRENT"       // held and reported
	OwnerTransitioning OwnerState = "TRANSITIONING" // wanted by another than the holder
)

// ShardSignals is what follows from two observations of a group on a shard, beside what the
// original service told. Every value is null as long as it is not known, and never negative.
type ShardSignals struct {
	// LagReason tells why the lag is unknown, or, where the unread entries were counted one
	// by one, what was wrong with the lag that Redis tells; null where Redis is believed.
	LagReason *LagReason `json:"lagReason"`
	// Problem is why the shard, or the group on it, could not be observed (F35), for example
	// STREAM_MISSING; null where it could. Then the numbers that cannot be null are 0.
	Problem *string `json:"problem"`
	// ProblemDetail says more of the problem, for people.
	ProblemDetail *string `json:"problemDetail"`
	// OldestUnreadAgeMs and OldestPendingAgeMs are the ages of the oldest entry that was not
	// delivered, or not acknowledged, by its id; also null without such an entry and for ids
	// that are no times.
	OldestUnreadAgeMs  *int64 `json:"oldestUnreadAgeMs"`
	OldestPendingAgeMs *int64 `json:"oldestPendingAgeMs"`
	// TimeToDrainSeconds is how long the group needs for its lag at the present rates; also
	// null where it would never end.
	TimeToDrainSeconds *float64 `json:"timeToDrainSeconds"`
	// TrimmedUnread counts the entries that went away before the group could read them: those
	// between its cursor and the first entry that is left.
	TrimmedUnread *int64 `json:"trimmedUnread"`
	// TrimmedUnreadAlarm tells that such entries were lost, also where nobody can count them.
	TrimmedUnreadAlarm bool `json:"trimmedUnreadAlarm"`
	// GroupRegressed tells that the group's cursor went back since the last observation (F23).
	GroupRegressed bool `json:"groupRegressed"`
	// ObservedAt is when Redis answered; null before it did.
	ObservedAt *Timestamp `json:"observedAt"`
}

// GroupSignals sums up the shards of a group. A sum is null as long as one part of it is
// unknown. The sums that the original contract does not let be null (length, pending, memory)
// are those of the known parts; Partial tells that parts are missing.
type GroupSignals struct {
	// KnownParts of AllParts shards were observed without a problem and with a known lag.
	KnownParts int `json:"knownParts"`
	AllParts   int `json:"allParts"`
	// Partial tells that a shard, or the group itself, could not be observed (F35).
	Partial bool `json:"partial"`
	// OldestUnreadAgeMs and OldestPendingAgeMs are the highest of all shards where all parts
	// are known.
	OldestUnreadAgeMs  *int64 `json:"oldestUnreadAgeMs"`
	OldestPendingAgeMs *int64 `json:"oldestPendingAgeMs"`
	// TimeToDrainSeconds is that of the shard that needs the longest.
	TimeToDrainSeconds *float64 `json:"timeToDrainSeconds"`
	// TrimmedUnread is the sum of the shards', TrimmedUnreadAlarm tells of a loss in any.
	TrimmedUnread      *int64 `json:"trimmedUnread"`
	TrimmedUnreadAlarm bool   `json:"trimmedUnreadAlarm"`
	// Problem is the first thing that is wrong with the observation; null where nothing is.
	Problem *string `json:"problem"`
	// ObservedAt is when the round began that the numbers are of.
	ObservedAt Timestamp `json:"observedAt"`
}

// StreamShardOffsetsResponse shows the shards of a group with what is unread on them.
type StreamShardOffsetsResponse struct {
	StreamPrefix          string              `json:"streamPrefix"`
	ConsumerGroup         string              `json:"consumerGroup"`
	Shards                []StreamShardOffset `json:"shards"`
	TotalStreamLength     int64               `json:"totalStreamLength"`
	TotalPendingCount     int64               `json:"totalPendingCount"`
	TotalLag              *int64              `json:"totalLag"`
	TotalMemoryUsageBytes int64               `json:"totalMemoryUsageBytes"`
	MemoryUsageKnown      bool                `json:"memoryUsageKnown"`

	// ProducedPerSecond and ConsumedPerSecond are the sums of the shards'.
	ProducedPerSecond *float64 `json:"producedPerSecond"`
	ConsumedPerSecond *float64 `json:"consumedPerSecond"`
	GroupSignals
}

// StreamShardOffset is a group on one shard.
type StreamShardOffset struct {
	StreamPrefix            string   `json:"streamPrefix"`
	ConsumerGroup           string   `json:"consumerGroup"`
	Shard                   ShardID  `json:"shard"`
	StreamKey               string   `json:"streamKey"`
	RedisSlot               int      `json:"redisSlot"`
	RedisNodeEndpoint       *string  `json:"redisNodeEndpoint"`
	RedisNodeID             *string  `json:"redisNodeId"`
	RedisSlotRangeStart     *int     `json:"redisSlotRangeStart"`
	RedisSlotRangeEnd       *int     `json:"redisSlotRangeEnd"`
	StreamLength            int64    `json:"streamLength"`
	FirstRecordID           *string  `json:"firstRecordId"`
	LastRecordID            *string  `json:"lastRecordId"`
	LastGeneratedID         *string  `json:"lastGeneratedId"`
	GroupLastDeliveredID    *string  `json:"groupLastDeliveredId"`
	ConsumerLastDeliveredID *string  `json:"consumerLastDeliveredId"`
	ConsumerLastAckedID     *string  `json:"consumerLastAckedId"`
	PendingCount            int64    `json:"pendingCount"`
	Lag                     *int64   `json:"lag"`
	MemoryUsageBytes        *int64   `json:"memoryUsageBytes"`
	OwnerMemberIDs          []string `json:"ownerMemberIds"`

	LagKnown bool `json:"lagKnown"`
	// ProducedPerSecond counts the entries that are added, ConsumedPerSecond those that are
	// delivered to the group.
	ProducedPerSecond *float64 `json:"producedPerSecond"`
	ConsumedPerSecond *float64 `json:"consumedPerSecond"`
	ShardSignals
}

// ConsumptionProgressResponse shows what the members of a group say they have read.
type ConsumptionProgressResponse struct {
	Progress []ConsumerShardProgress `json:"progress"`
}

// ConsumerShardProgress is what one member says of one shard.
type ConsumerShardProgress struct {
	StreamPrefix    string      `json:"streamPrefix"`
	ConsumerGroup   string      `json:"consumerGroup"`
	MemberID        string      `json:"memberId"`
	MemberName      string      `json:"memberName"`
	MemberState     MemberState `json:"memberState"`
	Shard           ShardID     `json:"shard"`
	StreamKey       string      `json:"streamKey"`
	LastDeliveredID *string     `json:"lastDeliveredId"`
	LastAckedID     *string     `json:"lastAckedId"`
	PendingCount    int64       `json:"pendingCount"`
	UpdatedAt       *Timestamp  `json:"updatedAt"`

	// Error is what the member cannot read the shard for (L12); null when it can.
	Error *string `json:"error"`
}

// MonitoredGroup is a group at a glance, with what was observed of its shards.
type MonitoredGroup struct {
	GroupResponse

	TotalStreamLength     int64    `json:"totalStreamLength"`
	TotalPendingCount     int64    `json:"totalPendingCount"`
	TotalLag              *int64   `json:"totalLag"`
	TotalMemoryUsageBytes int64    `json:"totalMemoryUsageBytes"`
	MemoryUsageKnown      bool     `json:"memoryUsageKnown"`
	ProducedPerSecond     *float64 `json:"producedPerSecond"`
	ConsumedPerSecond     *float64 `json:"consumedPerSecond"`
	GroupSignals
	// Problems is what somebody should look at: first the group's, then by shard.
	Problems []GroupProblem `json:"problems"`
	// RecentMutations are the newest of this group that the gateway let through, newest first,
	// at most MaxRecentMutations. Null where the audit is not kept in Redis or cannot be
	// read, and among the events of a stream.
	RecentMutations *[]RecentMutation `json:"recentMutations"`
	// Samples are those that were asked for; left out where none were.
	Samples *Samples `json:"samples,omitempty"`
}

// GroupProblem is one thing that is wrong with a group.
type GroupProblem struct {
	// Problem names it; readers pass over names that they do not know.
	Problem string `json:"problem"`
	// ShardIndex is the shard that it is about; null for the group as a whole.
	ShardIndex *int `json:"shardIndex"`
	// Detail says more, for people; it may be empty.
	Detail string `json:"detail"`
}

// The names of problems beside those of an observation and the reasons of an unknown lag.
const (
	// ProblemStructure is a group whose structure is that of an earlier look.
	ProblemStructure = "STRUCTURE_OLD"
	// ProblemUnassigned is a shard that nobody is wanted to read (F32).
	ProblemUnassigned = "UNASSIGNED"
	// ProblemLost is a shard of the group that is missing in Redis (L12).
	ProblemLost = "LOST_SHARD"
	// ProblemInvariant is a client that reads what it may not (I1).
	ProblemInvariant = "INVARIANT_VIOLATION"
	// ProblemTrimmedUnread is entries that went away before they were read.
	ProblemTrimmedUnread = "TRIMMED_UNREAD"
	// ProblemRegressed is a cursor that went back (F23).
	ProblemRegressed = "GROUP_REGRESSED"
)
