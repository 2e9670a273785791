package protocol

// GroupSnapshot is all that the coordinator shows of one group, for the monitor.
type GroupSnapshot struct {
	// Group has only the names where Problem is set.
	Group GroupResponse `json:"group"`
	// ReadCount is how many shards, from index 0, are to be watched: those that are read,
	// removed ones until the end of their resharding included (L3).
	ReadCount   int                 `json:"readCount"`
	Members     []MemberMetadata    `json:"members"`
	Assignments AssignmentsResponse `json:"assignments"`
	// Migrations are the reshardings of the stream, the newest first, without progress.
	Migrations []Migration `json:"migrations"`
	// Problem is the code with which the group's metadata cannot be read, such as
	// METADATA_CORRUPT; null where all is well.
	Problem *Code `json:"problem"`
}

// GroupSnapshotsResponse has every group, sorted by stream, then group.
type GroupSnapshotsResponse struct {
	Groups []GroupSnapshot `json:"groups"`
}
