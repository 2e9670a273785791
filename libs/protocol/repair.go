package protocol

// BarrierRequest starts a correction round with its barrier on a group (M2, M3), or with
// Close ends the barrier that is up.
type BarrierRequest struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
	// Close ends the barrier before its time. That is safe only when no member of a lost
	// history can still be reading.
	Close bool `json:"close,omitempty"`
}

// FenceRequest throws a member out of its group; what it may still be reading blocks
// until its lease has run out (H4).
type FenceRequest struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
}

// RepairIndexRequest builds the index of groups anew from the records that are there.
type RepairIndexRequest struct {
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
}

// RepairIndexResponse tells what the index missed and what it named in vain, as "prefix"
// for a stream's record and "prefix:group" for a group's, sorted.
type RepairIndexResponse struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}
