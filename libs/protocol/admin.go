package protocol

// Initial positions of a new consumer group on shard keys that hold records.
const (
	PositionEarliest = "earliest"
	PositionLatest   = "latest"
)

// CreateStreamRequest creates a stream with its groups.
type CreateStreamRequest struct {
	// InitialShardCount is 1 … limits.max-shards; null takes the coordinator's default.
	InitialShardCount *int    `json:"initialShardCount,omitempty"`
	RequestedBy       string  `json:"requestedBy"`
	Reason            *string `json:"reason,omitempty"`
	// ConsumerGroups defaults to one group named as the prefix with ':' as '-'.
	ConsumerGroups []string `json:"consumerGroups,omitempty"`
}

// StreamCreateResponse answers the creation of a stream.
type StreamCreateResponse struct {
	StreamPrefix    string   `json:"streamPrefix"`
	ShardCount      int      `json:"shardCount"`
	MetadataVersion int64    `json:"metadataVersion"`
	ConsumerGroups  []string `json:"consumerGroups"`
}

// CreateGroupRequest creates a group; on a new prefix also the stream.
type CreateGroupRequest struct {
	// InitialShardCount must equal the stream's count where the stream exists.
	InitialShardCount *int    `json:"initialShardCount,omitempty"`
	RequestedBy       string  `json:"requestedBy"`
	Reason            *string `json:"reason,omitempty"`
	// InitialPosition is earliest (default) or latest.
	InitialPosition string `json:"initialPosition,omitempty"`
}

// DeleteRequest deletes a group or a stream.
type DeleteRequest struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
	// Force deletes in spite of live members.
	Force bool `json:"force,omitempty"`
	// DeleteStreams also destroys the Redis consumer group, and the shard keys when
	// no other group uses them. Records are lost by it.
	DeleteStreams bool `json:"deleteStreams,omitempty"`
}

// StreamResponse is one stream with its groups and layout.
type StreamResponse struct {
	StreamPrefix     string          `json:"streamPrefix"`
	ShardCount       int             `json:"shardCount"`
	StreamKeyPattern string          `json:"streamKeyPattern"`
	MetadataVersion  int64           `json:"metadataVersion"`
	ConsumerGroups   []string        `json:"consumerGroups"`
	Groups           []GroupResponse `json:"groups"`
}

// StreamsResponse lists streams.
type StreamsResponse struct {
	Streams []StreamResponse `json:"streams"`
}

// ProducerRouting tells producers where the records of a stream go.
type ProducerRouting struct {
	StreamPrefix     string         `json:"streamPrefix"`
	ConsumerGroup    string         `json:"consumerGroup"`
	MetadataVersion  int64          `json:"metadataVersion"`
	ShardCount       int            `json:"shardCount"`
	StreamKeyPattern string         `json:"streamKeyPattern"`
	Shards           []RoutingShard `json:"shards"`

	// LeaseMs is how long the answer may be used, counted from when it was asked for (L3).
	LeaseMs int64  `json:"leaseMs"`
	Lineage string `json:"lineage"`
	// RoutingProtocol numbers the hash (libs/routing).
	RoutingProtocol int `json:"routingProtocol"`
}

// RoutingShard is one shard that producers may write.
type RoutingShard struct {
	ShardIndex int    `json:"shardIndex"`
	StreamKey  string `json:"streamKey"`
	RedisSlot  int    `json:"redisSlot"`
}

// HealthResponse is the health of one coordinator. Redis and Loop are UP, DOWN,
// DISABLED or a word with the reason behind a colon.
type HealthResponse struct {
	Status        string `json:"status"`
	CoordinatorID string `json:"coordinatorId"`
	Redis         string `json:"redis"`
	Loop          string `json:"loop"`
	// Problems lists what is wrong, one sentence each; empty when all is well.
	Problems []string `json:"problems"`
}

// The values of HealthResponse.Status.
const (
	HealthUp       = "UP"
	HealthDegraded = "DEGRADED"
	HealthDown     = "DOWN"
)

// VersionResponse says which build answers.
type VersionResponse struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	GoVersion string `json:"goVersion"`
}

// CompatibilityResponse says which protocols are spoken, with the running timing values.
type CompatibilityResponse struct {
	CurrentCoordinationVersion    int              `json:"currentCoordinationVersion"`
	SupportedCoordinationVersions VersionRange     `json:"supportedCoordinationVersions"`
	CoordinationVersions          []VersionSupport `json:"coordinationVersions"`
}

// VersionRange is an inclusive range of protocol versions.
type VersionRange struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// VersionSupport is the life of one protocol version.
type VersionSupport struct {
	Version               int             `json:"version"`
	Status                string          `json:"status"`
	IntroducedIn          ReleaseVersion  `json:"introducedIn"`
	DeprecatedIn          *ReleaseVersion `json:"deprecatedIn"`
	MinimumSupportedUntil ReleaseVersion  `json:"minimumSupportedUntil"`
	RemovedIn             *ReleaseVersion `json:"removedIn"`
	TimingDefaults        TimingValues    `json:"timingDefaults"`
}

// ReleaseVersion is a version of the suite.
type ReleaseVersion struct {
	Major     int     `json:"major"`
	Minor     int     `json:"minor"`
	Patch     int     `json:"patch"`
	Qualifier *string `json:"qualifier"`
	Version   string  `json:"version"`
}

// TimingValues are ISO 8601 durations, for example PT10S.
type TimingValues struct {
	HeartbeatInterval string `json:"heartbeatInterval"`
	MemberLeaseTTL    string `json:"memberLeaseTtl"`
	RebalanceTimeout  string `json:"rebalanceTimeout"`
}
