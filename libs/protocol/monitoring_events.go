package protocol

// The kinds of server-sent events of monitoring/stream (wire contract). A follower's first
// events tell of everything, those after of what has changed.
const (
	FollowGroups = "groups" // a GroupsEvent, every round
	FollowGroup  = "group"  // a GroupResponse: the structure of the group that was chosen
	FollowShards = "shards" // a ShardsEvent of the group that was chosen
)

// GroupsEvent tells of one round of observation.
type GroupsEvent struct {
	Round  int64     `json:"round"`
	At     Timestamp `json:"at"`
	TookMs int64     `json:"tookMs"`
	// Problem tells why the groups are those of an earlier round; null where they are not.
	Problem *string `json:"problem"`
	// Groups are those that have changed, Removed those that are gone.
	Groups  []GrafanaGroupRow `json:"groups"`
	Removed []GroupName       `json:"removed"`
	// Unreadable are all groups of which the coordinator cannot read the metadata.
	Unreadable []UnreadableGroup `json:"unreadable"`
}

// GroupName names a group of a stream.
type GroupName struct {
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`
}

// UnreadableGroup is a group that cannot be shown, and why.
type UnreadableGroup struct {
	GroupName

	Problem string `json:"problem"`
}

// ShardsEvent tells of the shards of a group that have changed, and of those that are gone.
type ShardsEvent struct {
	GroupName

	Shards  []GrafanaShardRow `json:"shards"`
	Removed []int             `json:"removed"`
}
