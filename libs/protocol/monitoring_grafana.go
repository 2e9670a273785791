package protocol

// GrafanaGroupRow is a group as one flat row.
type GrafanaGroupRow struct {
	StreamPrefix    string     `json:"streamPrefix"`
	ConsumerGroup   string     `json:"consumerGroup"`
	State           GroupState `json:"state"`
	GroupEpoch      int64      `json:"groupEpoch"`
	AssignmentEpoch int64      `json:"assignmentEpoch"`
	MetadataVersion int64      `json:"metadataVersion"`
	ShardCount      int        `json:"shardCount"`
	// ActiveMembers are those that are ACTIVE or STARTING.
	ActiveMembers int `json:"activeMembers"`
	TotalMembers  int `json:"totalMembers"`
	// CurrentShards are held by somebody, TargetShards wanted by somebody, removed shards
	// that are still read included.
	CurrentShards int `json:"currentShards"`
	TargetShards  int `json:"targetShards"`
	// AssignedShardRatio is how many of the shards that producers write to are held, for
	// example "20 / 20".
	AssignedShardRatio    string   `json:"assignedShardRatio"`
	RevokingShards        int      `json:"revokingShards"`
	TotalStreamLength     int64    `json:"totalStreamLength"`
	TotalPendingCount     int64    `json:"totalPendingCount"`
	TotalLag              *int64   `json:"totalLag"`
	ProducedPerSecond     *float64 `json:"producedPerSecond"`
	ConsumedPerSecond     *float64 `json:"consumedPerSecond"`
	TotalMemoryUsageBytes int64    `json:"totalMemoryUsageBytes"`
	MemoryUsageKnown      bool     `json:"memoryUsageKnown"`
	GroupSignals
	// Samples are those that were asked for; left out where none were.
	Samples *Samples `json:"samples,omitempty"`
}

// GrafanaMemberRow is a member as one flat row.
type GrafanaMemberRow struct {
	StreamPrefix          string      `json:"streamPrefix"`
	ConsumerGroup         string      `json:"consumerGroup"`
	MemberID              string      `json:"memberId"`
	MemberName            string      `json:"memberName"`
	State                 MemberState `json:"state"`
	MemberEpoch           int64       `json:"memberEpoch"`
	MetadataVersion       int64       `json:"metadataVersion"`
	CurrentShardCount     int         `json:"currentShardCount"`
	RevokingShardCount    int         `json:"revokingShardCount"`
	RuntimeMaxConcurrency int         `json:"runtimeMaxConcurrency"`
	ActiveConsumerWorkers int         `json:"activeConsumerWorkers"`
	LastHeartbeatAt       Timestamp   `json:"lastHeartbeatAt"`
	MemberLeaseExpiresAt  Timestamp   `json:"memberLeaseExpiresAt"`
}

// GrafanaShardRow is a group on a shard as one flat row. The owners are member ids, sorted
// and joined by commas, "" for none.
type GrafanaShardRow struct {
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`
	ShardCount    int    `json:"shardCount"`
	ShardIndex    int    `json:"shardIndex"`
	// ShardLabel is the index with a colon before it.
	ShardLabel              string     `json:"shardLabel"`
	StreamKey               string     `json:"streamKey"`
	RedisSlot               int        `json:"redisSlot"`
	RedisNodeEndpoint       *string    `json:"redisNodeEndpoint"`
	RedisNodeID             *string    `json:"redisNodeId"`
	RedisSlotRangeStart     *int       `json:"redisSlotRangeStart"`
	RedisSlotRangeEnd       *int       `json:"redisSlotRangeEnd"`
	StreamLength            int64      `json:"streamLength"`
	FirstRecordID           *string    `json:"firstRecordId"`
	LastRecordID            *string    `json:"lastRecordId"`
	LastGeneratedID         *string    `json:"lastGeneratedId"`
	GroupLastDeliveredID    *string    `json:"groupLastDeliveredId"`
	ConsumerLastDeliveredID *string    `json:"consumerLastDeliveredId"`
	ConsumerLastAckedID     *string    `json:"consumerLastAckedId"`
	PendingCount            int64      `json:"pendingCount"`
	Lag                     *int64     `json:"lag"`
	LagKnown                bool       `json:"lagKnown"`
	ProducedPerSecond       *float64   `json:"producedPerSecond"`
	ConsumedPerSecond       *float64   `json:"consumedPerSecond"`
	MemoryUsageBytes        *int64     `json:"memoryUsageBytes"`
	MemoryUsageKnown        bool       `json:"memoryUsageKnown"`
	TargetOwnerMemberIDs    string     `json:"targetOwnerMemberIds"`
	CurrentOwnerMemberIDs   string     `json:"currentOwnerMemberIds"`
	OwnerState              OwnerState `json:"ownerState"`
	OwnerMemberIDs          string     `json:"ownerMemberIds"`
	ShardSignals
}

// GrafanaAssignmentRow tells who reads a shard as one flat row, the owners as in
// GrafanaShardRow.
type GrafanaAssignmentRow struct {
	StreamPrefix   string `json:"streamPrefix"`
	ConsumerGroup  string `json:"consumerGroup"`
	ShardIndex     int    `json:"shardIndex"`
	TargetOwners   string `json:"targetOwners"`
	CurrentOwners  string `json:"currentOwners"`
	RevokingOwners string `json:"revokingOwners"`
}

// GrafanaMessageRow is a record as one flat row, with the page that it is on.
type GrafanaMessageRow struct {
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`
	ShardIndex    int    `json:"shardIndex"`
	// ShardSelector is what was asked for, an index or "all".
	ShardSelector string  `json:"shardSelector"`
	ShardLabel    string  `json:"shardLabel"`
	StreamKey     string  `json:"streamKey"`
	RecordID      string  `json:"recordId"`
	Payload       *string `json:"payload"`
	// FieldsJSON is the object of all fields as a text.
	FieldsJSON        string           `json:"fieldsJson"`
	PageDirection     MessageDirection `json:"pageDirection"`
	PageLimit         int              `json:"pageLimit"`
	PageNextCursor    *string          `json:"pageNextCursor"`
	PageTotalMessages int64            `json:"pageTotalMessages"`
	RecordTimestampMs *int64           `json:"recordTimestampMs"`
	RecordTime        *Timestamp       `json:"recordTime"`

	// Base64Fields and CutFields are those of StreamMessageRecord.
	Base64Fields []string `json:"base64Fields"`
	CutFields    []string `json:"cutFields"`
}

// GrafanaOptionRow is one choice of a dashboard's variable.
type GrafanaOptionRow struct {
	Text  string `json:"__text"`
	Value string `json:"__value"`
}
