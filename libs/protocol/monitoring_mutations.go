package protocol

// MaxRecentMutations is how many mutations the view of a group shows.
const MaxRecentMutations = 20

// RecentMutation is the head of an audit record about a group: who asked for what, and how it
// ended (monitoring, APIs). The values that were asked for are in the audit itself. Texts are
// cut to 256 bytes.
type RecentMutation struct {
	Time Timestamp `json:"time"`
	// Kind is AuditIntent for a mutation of which it is not known how it ended: under way, or
	// its gateway has gone.
	Kind      AuditKind `json:"kind"`
	Operation string    `json:"operation"`
	Method    string    `json:"method"`
	Route     string    `json:"route"`
	// Principal is the authenticated user, RequestedBy who was named in the body.
	Principal   string `json:"principal"`
	RequestedBy string `json:"requestedBy"`
	Reason      string `json:"reason"`
	RequestID   string `json:"requestId"`
	// Result, Status and ErrorCode are empty for an intent.
	Result    AuditResult `json:"result"`
	Status    int         `json:"status"`
	ErrorCode string      `json:"errorCode"`
}
