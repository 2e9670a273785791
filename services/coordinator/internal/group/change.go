package group

// Cause says why a structural commit happened; the flight recorder keeps it.
type Cause string

// The causes.
const (
	CauseJoin         Cause = "JOIN"
	CauseTakeover     Cause = "TAKEOVER"
	CauseLeave        Cause = "LEAVE"
	CauseSuspend      Cause = "SUSPEND"
	CauseExpire       Cause = "EXPIRE"
	CauseFenceReport  Cause = "FENCE_REPORT"
	CauseFenceTimeout Cause = "FENCE_TIMEOUT"
	CauseCorrection   Cause = "CORRECTION"
	CauseRelease      Cause = "RELEASE"
	CauseTold         Cause = "TOLD"
	CauseHandBack     Cause = "HAND_BACK"
	CauseGrant        Cause = "GRANT"
	CauseLingerOver   Cause = "LINGER_OVER"
	CauseBarrierOver  Cause = "BARRIER_OVER"
	CauseRoundOver    Cause = "ROUND_OVER"
	CauseGrace        Cause = "GRACE"
	CauseForget       Cause = "FORGET"
	CauseIdentity     Cause = "IDENTITY"
	CauseScale        Cause = "SCALE"
	CauseRollback     Cause = "ROLLBACK"
	CauseSeal         Cause = "SEAL"
	CauseReprovision  Cause = "REPROVISION"
	CauseAdmin        Cause = "ADMIN"
)

// Change is one thing that happened in a commit.
type Change struct {
	Cause  Cause  `json:"cause"`
	Member string `json:"member,omitempty"`
	// Shard is the index for RELEASE, TOLD, HAND_BACK, GRANT and LINGER_OVER, else -1.
	Shard int `json:"shard"`
	// RequestID is the heartbeat that led to it, if one did.
	RequestID string `json:"requestId,omitempty"`
}
