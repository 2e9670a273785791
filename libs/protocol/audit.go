package protocol

// AuditKind tells what an audit record is about a request.
type AuditKind string

// The kinds of audit records. A mutation that reaches its service has an intent and an
// outcome; one that was refused before has an outcome only; one whose answer was given again
// under its Idempotency-Key has a replay.
const (
	AuditIntent  AuditKind = "INTENT"
	AuditOutcome AuditKind = "OUTCOME"
	AuditReplay  AuditKind = "REPLAY"
)

// AuditResult tells how a request ended.
type AuditResult string

// The results of audited requests.
const (
	// AuditAllowed is a request that its service carried out (status below 400).
	AuditAllowed AuditResult = "ALLOWED"
	// AuditRefused is a request that its service refused (4xx), or that the gateway refused
	// before it was sent, with whatever status.
	AuditRefused AuditResult = "REFUSED"
	// AuditFailed is a request that was sent and of which it is not known whether it was
	// carried out (5xx, or no answer), and one whose handling broke.
	AuditFailed AuditResult = "FAILED"
)

// AuditRecord is one record of the audit (gateway, Audit). It never holds a password, a
// token or a body. Empty texts and zeros stand for what is not known.
//
// The hash goes over all fields in their order. One that is added later comes at the end and
// is omitted when it is empty, so that the records that are there keep their hashes.
type AuditRecord struct {
	// Sequence counts the records of a chain from 1, without a gap.
	Sequence int64 `json:"sequence"`
	// Chain names the chain: one for a Redis sink, one for each run of a gateway that logs.
	Chain string    `json:"chain"`
	Time  Timestamp `json:"time"`

	Kind AuditKind `json:"kind"`
	// Operation is the name of the route, for example SCALE_STREAM.
	Operation     string `json:"operation"`
	StreamPrefix  string `json:"streamPrefix"`
	ConsumerGroup string `json:"consumerGroup"`
	MemberID      string `json:"memberId"`
	ReshardingID  string `json:"reshardingId"`
	// Requested holds the values that the body asks for, by field, as JSON texts; only
	// fields that mutations have, each cut to 256 characters. It is empty, never null.
	Requested   map[string]string `json:"requested"`
	RequestedBy string            `json:"requestedBy"`
	Reason      string            `json:"reason"`

	// Principal is the authenticated user, empty where there was none.
	Principal string   `json:"principal"`
	Roles     []string `json:"roles"`

	RequestID string `json:"requestId"`
	// ClientAddress is who is believed to have asked, PeerAddress who was connected, and
	// ForwardedFor what the request said about it, believed or not (F37).
	ClientAddress string `json:"clientAddress"`
	PeerAddress   string `json:"peerAddress"`
	ForwardedFor  string `json:"forwardedFor"`
	UserAgent     string `json:"userAgent"`
	Method        string `json:"method"`
	Route         string `json:"route"`
	Query         string `json:"query"`
	// BodySHA256 is the body's hash in hexadecimal, empty where no body was read.
	BodySHA256 string `json:"bodySha256"`

	// Status, Result, ErrorCode, DurationMs, CoordinatorID and Intended are of outcomes and
	// replays. Status is 0 where the caller left before there was an answer; Intended tells
	// that the request was sent, after an intent.
	Status        int         `json:"status"`
	Result        AuditResult `json:"result"`
	ErrorCode     string      `json:"errorCode"`
	DurationMs    int64       `json:"durationMs"`
	CoordinatorID string      `json:"coordinatorId"`
	Intended      bool        `json:"intended"`
	GatewayID     string      `json:"gatewayId"`

	// PreviousHash is the Hash of the record before in the chain, empty in the first; Hash
	// is the SHA-256 over this record with an empty Hash (package audit of libs).
	PreviousHash string `json:"previousHash"`
	Hash         string `json:"hash"`
}

// Bounds of one page of the audit.
const (
	DefaultAudit = 100
	MaxAudit     = 1000
)

// AuditResponse is a page of audit records, newest first.
type AuditResponse struct {
	Records []AuditRecord `json:"records"`
	// Next is the cursor of the next, older page, null at the end. A page may have fewer
	// records than asked for, even none, and a next one all the same: what one request looks
	// through is bounded.
	Next *string `json:"next"`
	// Head is the newest record of the chain as the sink has it on record, by which a
	// missing end is noticed; its sequence is 0 as long as there is none. It is null where
	// the page is not the newest one of the whole audit: behind a cursor, with filters, and
	// for principals with scopes.
	Head *AuditHead `json:"head"`
}

// AuditHead names the newest record of a chain.
type AuditHead struct {
	Chain    string `json:"chain"`
	Sequence int64  `json:"sequence"`
	Hash     string `json:"hash"`
}
